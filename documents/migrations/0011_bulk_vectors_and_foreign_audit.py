"""Bulk uploads, mirrored folders, vectors of another model beside the live ones, foreign audit.

The search names the model of its question: vectors of different models are never compared. A
vector beside a chunk is readable where the chunk is; all else here is for staff and the system.
"""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models

SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"
TABLES = [
    "documents_uploadbatch",
    "documents_batchitem",
    "documents_mirroredfile",
    "documents_chunkvector",
    "documents_foreignchain",
    "documents_foreignevent",
]
PROTECT = "".join(
    f"""
alter table {table} enable row level security;
alter table {table} force row level security;
create policy staff on {table} to legalqa_app using ({SCOPE}) with check ({SCOPE});
create policy owner on {table} to legalqa_owner using (true) with check (true);
"""
    for table in TABLES
)
UNPROTECT = "".join(
    f"""
drop policy staff on {table};
drop policy owner on {table};
alter table {table} no force row level security;
alter table {table} disable row level security;
"""
    for table in TABLES
)

READ_VECTORS = """
alter table documents_chunkvector alter embedding set storage main;
grant select on documents_chunkvector to legalqa_reader;
create policy reader on documents_chunkvector for select to legalqa_reader using (
  exists (select from documents_chunk c where c.id = documents_chunkvector.chunk_id));
"""
HIDE_VECTORS = """
drop policy reader on documents_chunkvector;
revoke all on documents_chunkvector from legalqa_reader;
alter table documents_chunkvector alter embedding set storage external;
"""

# What was done elsewhere is evidence: it can be added to, never changed.
APPEND_ONLY = """
revoke update, delete, truncate on documents_foreignchain, documents_foreignevent from legalqa_app;
"""
CHANGEABLE = """
grant update, delete on documents_foreignchain, documents_foreignevent to legalqa_app;
"""

# The model of the vectors that an installation has already; its own name is where it came from.
FIRST_MODEL = """
insert into documents_embeddingmodel
    (name, source, sha256, dimension, is_in_chunk, state, created_at, activated_at)
  select embedding_model,
         case when embedding_model like 'sentence-transformers/all-MiniLM-L6-v2@%' then ''
              else split_part(embedding_model, '@', 1) end,
         '', 384, true, 'active', now(), now()
    from documents_chunk where embedding is not null and embedding_model <> ''
   group by embedding_model order by count(*) desc limit 1;
"""

RETRIEVE = """
drop function documents_retrieve(halfvec, int[], int, int, int, int);
select '[1]'::halfvec;  -- load the library: a non-owner may set hnsw.* only once it is known

create function documents_retrieve(
    q halfvec, q_terms int[], depth int, exact_max int, postings_cap int default 10000,
    certify int default 10, q_model text default null, side bigint default null,
    dim int default 0)
returns jsonb language plpgsql stable security invoker
set search_path = public, pg_temp
set hnsw.iterative_scan = 'relaxed_order' set hnsw.ef_search = '200'
set hnsw.max_scan_tuples = '40000'
set plan_cache_mode = 'force_custom_plan' set jit = off
as $f$
#variable_conflict use_column
declare
  cls int[] := string_to_array(nullif(current_setting('legalqa.classes', true), ''), ',')::int[];
  day date := nullif(current_setting('legalqa.as_of', true), '')::date;
  n_all float8; n int; is_exact bool; dense_exact bool; ok bool := true;
  qs sparsevec; all_terms int[]; rare int[]; rest float8; dense bigint[] := '{}';
  lex bigint[] := '{}'; nth float8; dfs jsonb; hits jsonb;
begin
  select count(*) into n from (select 1 from documents_chunkterms t
      where t.access_class = any (cls) and t.effective_from <= day
      limit exact_max + 1) s;
  if n = 0 then
    return jsonb_build_object('is_empty', true, 'hits', '[]'::jsonb, 'dfs', '{}'::jsonb);
  end if;
  is_exact := n <= exact_max;
  -- only what is in force, give or take two days, is in the vector index
  dense_exact := is_exact or day < current_date - 2 or day > current_date;

  -- vectors of the question's own model alone: in the chunks, or in a table beside them
  if q is not null and side is null then
    select coalesce(array_agg(z.id order by z.dist, z.id), '{}') into dense from
      (select c.id, c.embedding <#> q as dist from documents_chunk c
        where (dense_exact or c.live) and c.embedding is not null
          and (q_model is null or c.embedding_model = q_model)
          and c.access_class_id = any (cls) and c.effective_from <= day
        order by case when dense_exact then (c.embedding <#> q) + 0 else c.embedding <#> q end,
                 case when dense_exact then c.id end limit depth) z;
  elsif q is not null and dense_exact then
    select coalesce(array_agg(z.id order by z.dist, z.id), '{}') into dense from
      (select c.id, v.embedding <#> q as dist
         from documents_chunk c join documents_chunkvector v on v.chunk_id = c.id
        where v.model_id = side
          and c.access_class_id = any (cls) and c.effective_from <= day
        order by 2, 1 limit depth) z;
  elsif q is not null then  -- the cast lets the index of this model's dimension serve
    execute format($d$
      select coalesce(array_agg(z.id order by z.dist, z.id), '{}') from
        (select v.chunk_id as id, v.embedding::halfvec(%1$s) <#> $1 as dist
           from documents_chunkvector v join documents_chunk c on c.id = v.chunk_id
          where v.model_id = %2$s
            and c.access_class_id = any ($2) and c.effective_from <= $3
          order by v.embedding::halfvec(%1$s) <#> $1 limit $4) z $d$, dim, side)
      into dense using q, cls, day, depth;
  end if;

  select coalesce(sum(s.df), 0) into n_all from
    (select df from documents_termstat where term = 0 and access_class = any (cls)
     union all
     select df from documents_termdelta where term = 0 and access_class = any (cls)) s;
  select ('{' || string_agg(w.term || ':' || w.idf::real, ',' order by w.term)
          || '}/1000000000')::sparsevec,
         array_agg(w.term), array_agg(w.term) filter (where w.before < postings_cap),
         -- what the dropped terms could add at most: saturation is below k1 + 1 = 1.9
         coalesce(sum(1.9 * w.idf) filter (where w.before >= postings_cap), 0),
         jsonb_object_agg(w.term, w.df)
    into qs, all_terms, rare, rest, dfs
    from (select d.term, d.df,
                 ln(1 + (greatest(n_all, d.df) - d.df + 0.5) / (d.df + 0.5)) as idf,
                 sum(d.df) over (order by d.df, d.term) - d.df as before
            from (select t.term, coalesce(sum(s.df), 0)::float8 as df
                    from unnest(q_terms) t(term) left join
                      (select term, df from documents_termstat
                        where term = any (q_terms) and access_class = any (cls)
                       union all
                       select term, df from documents_termdelta
                        where term = any (q_terms) and access_class = any (cls)) s
                      on s.term = t.term
                   group by t.term) d) w;

  while all_terms is not null loop
    select coalesce(array_agg(z.chunk_id order by z.neg, z.chunk_id), '{}'),
           -(array_agg(z.neg order by z.neg))[certify] into lex, nth from
      (select t.chunk_id, t.weights <#> qs as neg from documents_chunkterms t
        where (is_exact or t.terms && rare) and t.access_class = any (cls)
          and t.effective_from <= day
        order by 2, 1 limit depth) z where z.neg < 0;
    exit when is_exact or rest = 0 or nth >= rest;
    ok := false; rest := 0; rare := all_terms;  -- not proved complete: every term
  end loop;

  select coalesce(jsonb_agg(jsonb_build_object(
           'chunk', c.id, 'section', c.section_id, 'version', c.version_id,
           'cosine', case
             when side is not null then
               (select -(v.embedding <#> q) from documents_chunkvector v
                 where v.chunk_id = c.id and v.model_id = side)
             when q_model is null or c.embedding_model = q_model then -(c.embedding <#> q) end, 'bm25', coalesce(-(t.weights <#> qs), 0),
           'dense_rank', f.dr, 'lexical_rank', f.lr,
           'matched', array(select unnest(t.terms) intersect select unnest(q_terms) order by 1))
           order by c.id), '[]'::jsonb) into hits
    from (select coalesce(a.i, b.i) as i, a.r as dr, b.r as lr
            from unnest(dense) with ordinality a(i, r)
            full join unnest(lex) with ordinality b(i, r) on a.i = b.i) f
    join documents_chunk c on c.id = f.i join documents_chunkterms t on t.chunk_id = f.i;
  return jsonb_build_object('is_empty', false, 'is_exact', is_exact, 'is_certified', ok,
                            'hits', hits, 'dfs', coalesce(dfs, '{}'::jsonb));
end $f$;
"""
RETRIEVE_AS_BEFORE = """
drop function documents_retrieve(
  halfvec, int[], int, int, int, int, text, bigint, int);
select '[1]'::halfvec;

create function documents_retrieve(
    q halfvec, q_terms int[], depth int, exact_max int, postings_cap int default 10000,
    certify int default 10)
returns jsonb language plpgsql stable security invoker
set search_path = public, pg_temp
set hnsw.iterative_scan = 'relaxed_order' set hnsw.ef_search = '200'
set hnsw.max_scan_tuples = '40000'
set plan_cache_mode = 'force_custom_plan' set jit = off
as $f$
#variable_conflict use_column
declare
  cls int[] := string_to_array(nullif(current_setting('legalqa.classes', true), ''), ',')::int[];
  day date := nullif(current_setting('legalqa.as_of', true), '')::date;
  n_all float8; n int; is_exact bool; dense_exact bool; ok bool := true;
  qs sparsevec; all_terms int[]; rare int[]; rest float8; dense bigint[] := '{}';
  lex bigint[] := '{}'; nth float8; dfs jsonb; hits jsonb;
begin
  select count(*) into n from (select 1 from documents_chunkterms t
      where t.access_class = any (cls) and t.effective_from <= day
      limit exact_max + 1) s;
  if n = 0 then
    return jsonb_build_object('is_empty', true, 'hits', '[]'::jsonb, 'dfs', '{}'::jsonb);
  end if;
  is_exact := n <= exact_max;
  -- only what is in force, give or take two days, is in the vector index
  dense_exact := is_exact or day < current_date - 2 or day > current_date;

  if q is not null then
    select coalesce(array_agg(z.id order by z.dist, z.id), '{}') into dense from
      (select c.id, c.embedding <#> q as dist from documents_chunk c
        where (dense_exact or c.live) and c.embedding is not null
          and c.access_class_id = any (cls) and c.effective_from <= day
        order by case when dense_exact then (c.embedding <#> q) + 0 else c.embedding <#> q end,
                 case when dense_exact then c.id end limit depth) z;
  end if;

  select coalesce(sum(s.df), 0) into n_all from
    (select df from documents_termstat where term = 0 and access_class = any (cls)
     union all
     select df from documents_termdelta where term = 0 and access_class = any (cls)) s;
  select ('{' || string_agg(w.term || ':' || w.idf::real, ',' order by w.term)
          || '}/1000000000')::sparsevec,
         array_agg(w.term), array_agg(w.term) filter (where w.before < postings_cap),
         -- what the dropped terms could add at most: saturation is below k1 + 1 = 1.9
         coalesce(sum(1.9 * w.idf) filter (where w.before >= postings_cap), 0),
         jsonb_object_agg(w.term, w.df)
    into qs, all_terms, rare, rest, dfs
    from (select d.term, d.df,
                 ln(1 + (greatest(n_all, d.df) - d.df + 0.5) / (d.df + 0.5)) as idf,
                 sum(d.df) over (order by d.df, d.term) - d.df as before
            from (select t.term, coalesce(sum(s.df), 0)::float8 as df
                    from unnest(q_terms) t(term) left join
                      (select term, df from documents_termstat
                        where term = any (q_terms) and access_class = any (cls)
                       union all
                       select term, df from documents_termdelta
                        where term = any (q_terms) and access_class = any (cls)) s
                      on s.term = t.term
                   group by t.term) d) w;

  while all_terms is not null loop
    select coalesce(array_agg(z.chunk_id order by z.neg, z.chunk_id), '{}'),
           -(array_agg(z.neg order by z.neg))[certify] into lex, nth from
      (select t.chunk_id, t.weights <#> qs as neg from documents_chunkterms t
        where (is_exact or t.terms && rare) and t.access_class = any (cls)
          and t.effective_from <= day
        order by 2, 1 limit depth) z where z.neg < 0;
    exit when is_exact or rest = 0 or nth >= rest;
    ok := false; rest := 0; rare := all_terms;  -- not proved complete: every term
  end loop;

  select coalesce(jsonb_agg(jsonb_build_object(
           'chunk', c.id, 'section', c.section_id, 'version', c.version_id,
           'cosine', -(c.embedding <#> q), 'bm25', coalesce(-(t.weights <#> qs), 0),
           'dense_rank', f.dr, 'lexical_rank', f.lr,
           'matched', array(select unnest(t.terms) intersect select unnest(q_terms) order by 1))
           order by c.id), '[]'::jsonb) into hits
    from (select coalesce(a.i, b.i) as i, a.r as dr, b.r as lr
            from unnest(dense) with ordinality a(i, r)
            full join unnest(lex) with ordinality b(i, r) on a.i = b.i) f
    join documents_chunk c on c.id = f.i join documents_chunkterms t on t.chunk_id = f.i;
  return jsonb_build_object('is_empty', false, 'is_exact', is_exact, 'is_certified', ok,
                            'hits', hits, 'dfs', coalesce(dfs, '{}'::jsonb));
end $f$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0010_ends_and_label_proposals"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ForeignChain",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("imported_at", models.DateTimeField(auto_now_add=True)),
                ("event_count", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                ("source", models.CharField(blank=True, max_length=500)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("dimension", models.PositiveIntegerField()),
                ("is_in_chunk", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("building", "Building"),
                            ("active", "Active"),
                            ("retired", "Retired"),
                        ],
                        default="building",
                        max_length=8,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("activated_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "active")),
                        fields=("state",),
                        name="one_active_model",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "building")),
                        fields=("state",),
                        name="one_model_being_built",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_in_chunk", True)),
                        fields=("is_in_chunk",),
                        name="one_model_in_chunks",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["building", "active", "retired"])),
                        name="model_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UploadBatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=50),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("department", models.CharField(blank=True, max_length=100)),
                ("effective_from", models.DateField(blank=True, null=True)),
                ("effective_to", models.DateField(blank=True, null=True)),
                ("publish", models.BooleanField(default=False)),
                ("problem", models.CharField(blank=True, max_length=500)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "upload batches",
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="ChunkVector",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("embedding", pgvector.django.halfvec.HalfVectorField()),
                (
                    "chunk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="vectors",
                        to="documents.chunk",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="documents.embeddingmodel",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("chunk", "model"), name="chunk_vector_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ForeignEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("line", models.TextField()),
                (
                    "chain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="documents.foreignchain",
                    ),
                ),
            ],
            options={
                "ordering": ["chain", "ordinal"],
                "constraints": [
                    models.UniqueConstraint(fields=("chain", "ordinal"), name="foreign_event_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="MirroredFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("mirror", models.CharField(max_length=100)),
                ("path", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("taken_at", models.DateTimeField(auto_now=True)),
                ("gone_on", models.DateField(null=True)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="documents.policy",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="documents.policyversion",
                    ),
                ),
            ],
            options={
                "ordering": ["mirror", "path"],
                "constraints": [
                    models.UniqueConstraint(fields=("mirror", "path"), name="mirrored_path_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="BatchItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("source", models.PositiveIntegerField()),
                ("member", models.PositiveIntegerField(null=True)),
                ("name", models.CharField(max_length=500)),
                ("size_bytes", models.BigIntegerField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("received", "Received"),
                            ("duplicate", "Duplicate"),
                            ("refused", "Refused"),
                            ("passed_over", "Passed Over"),
                        ],
                        default="waiting",
                        max_length=11,
                    ),
                ),
                ("code", models.CharField(blank=True, max_length=60)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("attempts", models.PositiveIntegerField(default=0)),
                (
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="documents.policyversion",
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="documents.uploadbatch",
                    ),
                ),
            ],
            options={
                "ordering": ["batch", "ordinal"],
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "ordinal"), name="batch_item_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                ["waiting", "received", "duplicate", "refused", "passed_over"],
                            )
                        ),
                        name="batch_outcome_known",
                    ),
                ],
            },
        ),
        migrations.RunSQL(PROTECT, UNPROTECT),
        migrations.RunSQL(READ_VECTORS, HIDE_VECTORS),
        migrations.RunSQL(APPEND_ONLY, CHANGEABLE),
        migrations.RunSQL(FIRST_MODEL, migrations.RunSQL.noop),
        migrations.RunSQL(RETRIEVE, RETRIEVE_AS_BEFORE),
    ]
