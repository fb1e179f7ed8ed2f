"""Both legs of the search in one call, with the rights of whoever calls.

Exact over up to `exact_max` readable chunks; above, HNSW and GIN candidates. The document
frequencies come from the reader's own classes, so nothing hidden moves a score.
"""

from django.db import migrations

FORWARDS = """
select '[1]'::halfvec;  -- load the library: a non-owner may set hnsw.* only once it is known

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
      where t.access_class = any (cls) and t.effective_from <= day and t.effective_to >= day
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
          and c.access_class_id = any (cls) and c.effective_from <= day and c.effective_to >= day
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
          and t.effective_from <= day and t.effective_to >= day
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

BACKWARDS = "drop function documents_retrieve(halfvec, int[], int, int, int, int);"


class Migration(migrations.Migration):
    dependencies = [("documents", "0003_row_security")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
