"""Stored questions and answers under row-level security: a reader sees their own alone.

Records and outcomes are append-only for the application; the words beside them can be erased.
"""

from django.db import migrations

SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"
READER = "(select nullif(current_setting('legalqa.reader', true), '')::bigint)"
OWN = {
    "qa_questionrecord": f"asker_id = {READER}",
    "qa_outcomerecord": "exists (select from qa_questionrecord q"
    " where q.id = qa_outcomerecord.question_id)",
    "qa_questiontext": "exists (select from qa_questionrecord q"
    " where q.id = qa_questiontext.question_record_id)",
}
FORWARDS = (
    "".join(
        f"""
alter table {table} enable row level security;
alter table {table} force row level security;
create policy staff on {table} to legalqa_app using ({SCOPE}) with check ({SCOPE});
create policy owner on {table} to legalqa_owner using (true) with check (true);
create policy reader on {table} for select to legalqa_reader using ({own});
grant select on {table} to legalqa_reader;
"""
        for table, own in OWN.items()
    )
    + """
revoke update, delete on qa_questionrecord, qa_outcomerecord from legalqa_app;
"""
)
BACKWARDS = "grant update, delete on qa_questionrecord, qa_outcomerecord to legalqa_app;" + "".join(
    f"""
drop policy reader on {table};
drop policy staff on {table};
drop policy owner on {table};
alter table {table} no force row level security;
alter table {table} disable row level security;
revoke all on {table} from legalqa_reader;
"""
    for table in OWN
)


class Migration(migrations.Migration):
    dependencies = [("qa", "0001_answer_log"), ("documents", "0005_groups")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
