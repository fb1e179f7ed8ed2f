"""Row-level security on every content table: three policies each, forced on the owner too.

A reader sees a chunk by class and date, and a section, version or policy when it holds such a
chunk. Settings are read in a sub-select (once a statement) and through nullif, because after a
transaction an unset one reads as ''. Unset means nobody.
"""

from django.db import migrations

CLASSES = (
    "(select string_to_array(nullif(current_setting('legalqa.classes', true), ''), ',')::int[])"
    "::int[]"
)
AS_OF = "(select nullif(current_setting('legalqa.as_of', true), '')::date)"
IN_FORCE = f"effective_from <= {AS_OF} and effective_to >= {AS_OF}"

READER = {
    "documents_chunk": f"access_class_id = any ({CLASSES}) and {IN_FORCE}"
    " and state in ('ready', 'released')",
    "documents_chunkterms": f"access_class = any ({CLASSES}) and {IN_FORCE}",
    "documents_termstat": f"access_class = any ({CLASSES})",
    "documents_termdelta": f"access_class = any ({CLASSES})",
    "documents_section": "exists (select from documents_chunk c"
    " where c.section_id = documents_section.id)",
    "documents_policyversion": "exists (select from documents_chunk c"
    " where c.version_id = documents_policyversion.id)",
    "documents_policy": "exists (select from documents_policyversion v"
    " where v.policy_id = documents_policy.id)",
}
STAFF_ONLY = ["documents_versiondetail", "documents_sectiontext", "documents_finding"]
SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"


def _protect(table: str) -> str:
    return f"""
alter table {table} enable row level security;
alter table {table} force row level security;
create policy staff on {table} to legalqa_app using ({SCOPE}) with check ({SCOPE});
create policy owner on {table} to legalqa_owner using (true) with check (true);
"""


def _open(table: str) -> str:
    return f"""
grant select on {table} to legalqa_reader;
create policy reader on {table} for select to legalqa_reader using ({READER[table]});
"""


def _undo(table: str) -> str:
    return f"""
drop policy if exists reader on {table};
drop policy staff on {table};
drop policy owner on {table};
alter table {table} no force row level security;
alter table {table} disable row level security;
revoke all on {table} from legalqa_reader;
"""


TABLES = [*READER, *STAFF_ONLY]
FORWARDS = (
    "".join(map(_protect, TABLES))
    + "".join(map(_open, READER))
    # The audit is append-only for the application; truncating is for nobody but the owner.
    + "revoke update, delete, truncate on documents_auditevent from legalqa_app;"
)
BACKWARDS = "".join(map(_undo, reversed(TABLES))) + (
    "grant update, delete on documents_auditevent to legalqa_app;"
)


class Migration(migrations.Migration):
    dependencies = [("documents", "0002_term_statistics")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
