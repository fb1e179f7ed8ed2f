"""A label that some text has been under cannot be deleted.

Its access classes would fail closed at first, but the next change of labels would rebuild them
from what is left: deleting a restriction would widen.
"""

from django.db import migrations

FORWARDS = """
create function documents_keep_used_label() returns trigger language plpgsql
set search_path = public, pg_temp as $f$
begin
  if exists (select from documents_accessclass where old.id = any (key)) then
    raise exception 'label % is in use', old.slug using errcode = 'foreign_key_violation';
  end if;
  return old;
end $f$;

create trigger keep_used_label before delete on documents_accesslabel
  for each row execute function documents_keep_used_label();
"""

BACKWARDS = """
drop trigger keep_used_label on documents_accesslabel;
drop function documents_keep_used_label();
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0005_groups")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
