"""Last days that readers learn only once they are past; changes of labels that await a second
person; who gave a grant.

A version is closed on the day before its successor begins, so its end tells of a text to come.
The reader's role loses the columns that hold it (a policy of row security needs no right on the
columns of its own table), and gets ends from a table of their own.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"
TABLES = ["documents_versionend", "documents_labelproposal"]
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

KEEP_ENDS = """
create function documents_keep_version_end() returns trigger language plpgsql
set search_path = public, pg_temp as $f$
begin
  if upper(new.effective) is null then
    delete from documents_versionend where version_id = new.id;
  else
    insert into documents_versionend (version_id, last_day)
      values (new.id, upper(new.effective) - 1)
      on conflict (version_id) do update set last_day = excluded.last_day;
  end if;
  return null;
end $f$;

create trigger keep_version_end after insert or update of effective on documents_policyversion
  for each row execute function documents_keep_version_end();

insert into documents_versionend (version_id, last_day)
  select id, upper(effective) - 1 from documents_policyversion where upper(effective) is not null;
"""
DROP_ENDS = """
drop trigger keep_version_end on documents_policyversion;
drop function documents_keep_version_end();
"""

ENDS_BEFORE = "(select nullif(current_setting('legalqa.ends_before', true), '')::date)"
READ_PAST_ENDS = f"""
grant select on documents_versionend to legalqa_reader;
create policy reader on documents_versionend for select to legalqa_reader using (
  last_day < {ENDS_BEFORE}
  and exists (select from documents_chunk c where c.version_id = documents_versionend.version_id));
"""
READ_NO_ENDS = """
drop policy reader on documents_versionend;
revoke all on documents_versionend from legalqa_reader;
"""

# All columns but these: an end to come, when a row was last changed, and how many there were.
HIDDEN = {
    "documents_policyversion": ("effective", "updated_at"),
    "documents_chunk": ("effective_to",),
    "documents_chunkterms": ("effective_to",),
    "documents_termdelta": ("id",),
}
HIDE = "".join(
    f"""
revoke select on {table} from legalqa_reader;
do $f$ begin
  execute (select format('grant select (%s) on {table} to legalqa_reader',
                         string_agg(quote_ident(attname), ', '))
             from pg_attribute where attrelid = '{table}'::regclass and attnum > 0
              and not attisdropped and attname <> all ('{{{",".join(columns)}}}'));
end $f$;
"""
    for table, columns in HIDDEN.items()
)
UNHIDE = "".join(
    f"""
do $f$ begin
  execute (select format('revoke select (%s) on {table} from legalqa_reader',
                         string_agg(quote_ident(attname), ', '))
             from pg_attribute where attrelid = '{table}'::regclass and attnum > 0
              and not attisdropped);
end $f$;
grant select on {table} to legalqa_reader;
"""
    for table in HIDDEN
)

# The search names the last day only where row security looks at it anyway.
SEARCH_WITHOUT_ENDS = r"""
select '[1]'::halfvec;  -- load the library: a non-owner may set hnsw.* only once it is known
do $f$ declare found text; begin
  for found in select pg_get_functiondef(oid) from pg_proc where proname = 'documents_retrieve' loop
    execute regexp_replace(found, '\s+and [a-z]+\.effective_to >= (day|\$[0-9]+)', '', 'g');
  end loop;
end $f$;
"""

# An update that moves no count leaves no change on record: closing a version would tell of the
# one that follows it.
COUNT_TERMS = """
create or replace function documents_chunk_terms_count() returns trigger language plpgsql
set search_path = public, pg_temp as $f$
begin
  if tg_op = 'UPDATE' then  -- nested: old_rows is unknown to the plan of any other statement
    if not exists (
        select from new_rows n join old_rows o on o.chunk_id = n.chunk_id
         where (n.access_class, n.is_counted, n.terms)
               is distinct from (o.access_class, o.is_counted, o.terms)) then
      return null;
    end if;
  end if;
  if tg_op <> 'DELETE' then
    insert into documents_termdelta (term, access_class, df)
      select u.term, n.access_class, count(*)
        from new_rows n cross join lateral unnest(n.terms || 0) u(term)
       where n.is_counted group by 1, 2;
  end if;
  if tg_op <> 'INSERT' then
    insert into documents_termdelta (term, access_class, df)
      select u.term, o.access_class, -count(*)
        from old_rows o cross join lateral unnest(o.terms || 0) u(term)
       where o.is_counted group by 1, 2;
  end if;
  return null;
end $f$;
"""
COUNT_TERMS_AS_BEFORE = """
create or replace function documents_chunk_terms_count() returns trigger language plpgsql
set search_path = public, pg_temp as $f$
begin
  if tg_op <> 'DELETE' then
    insert into documents_termdelta (term, access_class, df)
      select u.term, n.access_class, count(*)
        from new_rows n cross join lateral unnest(n.terms || 0) u(term)
       where n.is_counted group by 1, 2;
  end if;
  if tg_op <> 'INSERT' then
    insert into documents_termdelta (term, access_class, df)
      select u.term, o.access_class, -count(*)
        from old_rows o cross join lateral unnest(o.terms || 0) u(term)
       where o.is_counted group by 1, 2;
  end if;
  return null;
end $f$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0009_deletion_and_reviews"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField(
            model_name="labelgrant",
            name="granted_by",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="VersionEnd",
            fields=[
                (
                    "version",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="end",
                        serialize=False,
                        to="documents.policyversion",
                    ),
                ),
                ("last_day", models.DateField()),
            ],
        ),
        migrations.CreateModel(
            name="LabelProposal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sections",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "before",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), size=None
                    ),
                ),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.SlugField(), default=list, size=None
                    ),
                ),
                ("proposed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "decision",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("accepted", "Accepted"),
                            ("refused", "Refused"),
                            ("taken_back", "Taken Back"),
                            ("stale", "Stale"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="label_proposals",
                        to="documents.policyversion",
                    ),
                ),
            ],
            options={
                "verbose_name": "change of labels",
                "verbose_name_plural": "changes of labels",
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "decision__in",
                                ["pending", "accepted", "refused", "taken_back", "stale"],
                            )
                        ),
                        name="proposal_decision_known",
                    )
                ],
            },
        ),
        migrations.RunSQL(PROTECT, UNPROTECT),
        migrations.RunSQL(KEEP_ENDS, DROP_ENDS),
        migrations.RunSQL(READ_PAST_ENDS, READ_NO_ENDS),
        migrations.RunSQL(HIDE, UNHIDE),
        migrations.RunSQL(SEARCH_WITHOUT_ENDS, migrations.RunSQL.noop),
        migrations.RunSQL(COUNT_TERMS, COUNT_TERMS_AS_BEFORE),
    ]
