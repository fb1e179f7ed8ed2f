"""Document frequencies per access class, kept exact by triggers as append-only changes."""

from django.db import migrations

FORWARDS = """
create function documents_chunk_sync() returns trigger language plpgsql
set search_path = public, pg_temp as $f$
begin
  update documents_chunkterms t
     set access_class = n.access_class_id, effective_from = n.effective_from,
         effective_to = n.effective_to
    from new_rows n
   where n.id = t.chunk_id and n.effective_from is not null
     and (t.access_class, t.effective_from, t.effective_to)
         is distinct from (n.access_class_id, n.effective_from, n.effective_to);
  delete from documents_chunkterms t using new_rows n
   where n.id = t.chunk_id and n.effective_from is null;
  return null;
end $f$;

create trigger chunk_sync after update on documents_chunk referencing new table as new_rows
  for each statement execute function documents_chunk_sync();

create function documents_chunk_terms_count() returns trigger language plpgsql
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

create trigger chunk_terms_inserted after insert on documents_chunkterms
  referencing new table as new_rows
  for each statement execute function documents_chunk_terms_count();
create trigger chunk_terms_updated after update on documents_chunkterms
  referencing new table as new_rows old table as old_rows
  for each statement execute function documents_chunk_terms_count();
create trigger chunk_terms_deleted after delete on documents_chunkterms
  referencing old table as old_rows
  for each statement execute function documents_chunk_terms_count();

create function documents_compact_term_stats() returns bigint language plpgsql
set search_path = public, pg_temp as $f$
declare moved bigint;
begin
  perform pg_advisory_xact_lock(hashtext('documents_compact_term_stats'));
  with gone as (delete from documents_termdelta returning term, access_class, df),
  up as (
    insert into documents_termstat (term, access_class, df)
      select term, access_class, sum(df) from gone group by 1, 2 having sum(df) <> 0 order by 1, 2
      on conflict (term, access_class) do update set df = documents_termstat.df + excluded.df
      returning 1)
  select count(*) into moved from up;
  delete from documents_termstat where df = 0;
  return moved;
end $f$;

alter table documents_chunk alter embedding set storage plain;
"""

BACKWARDS = """
alter table documents_chunk alter embedding set storage extended;
drop function documents_compact_term_stats();
drop trigger chunk_terms_deleted on documents_chunkterms;
drop trigger chunk_terms_updated on documents_chunkterms;
drop trigger chunk_terms_inserted on documents_chunkterms;
drop function documents_chunk_terms_count();
drop trigger chunk_sync on documents_chunk;
drop function documents_chunk_sync();
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_policies")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
