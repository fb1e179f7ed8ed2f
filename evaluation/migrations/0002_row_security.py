"""Questions and results quote policies, so they stand under row-level security like chunks.

A reader sees a result on its own as-of date, while every class in `needed_classes` is among
theirs and every chunk that it rests on is readable; a run, when it holds such a result, and of
a run only the columns that say nothing about the others. Sets and questions are for staff.
"""

from django.db import migrations

SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"
CLASSES = (
    "coalesce((select string_to_array(nullif(current_setting('legalqa.classes', true), ''), ',')"
    "::int[]), '{}'::int[])"
)
AS_OF = "(select nullif(current_setting('legalqa.as_of', true), '')::date)"
STAFF_ONLY = ("evaluation_questionset", "evaluation_question")
READER = {
    "evaluation_runresult": f"as_of = {AS_OF} and cardinality(needed_classes) > 0"
    f" and needed_classes <@ {CLASSES}"
    " and not exists (select from unnest(chunk_ids) as rests_on(id)"
    " where not exists (select from documents_chunk c where c.public_id = rests_on.id))",
    "evaluation_evaluationrun": "exists (select from evaluation_runresult r"
    " where r.run_id = evaluation_evaluationrun.id)",
}
COLUMNS = {
    "evaluation_runresult": "",
    "evaluation_evaluationrun": "(id, public_id, set_name, set_version, answerer, settings,"
    " code_version, started_at, finished_at)",
}
TABLES = (*STAFF_ONLY, *READER)
FORWARDS = "".join(
    f"""
alter table {table} enable row level security;
alter table {table} force row level security;
create policy staff on {table} to legalqa_app using ({SCOPE}) with check ({SCOPE});
create policy owner on {table} to legalqa_owner using (true) with check (true);
"""
    for table in TABLES
) + "".join(
    f"""
grant select {COLUMNS[table]} on {table} to legalqa_reader;
create policy reader on {table} for select to legalqa_reader using ({seen});
"""
    for table, seen in READER.items()
)
BACKWARDS = "".join(
    f"""
drop policy if exists reader on {table};
drop policy staff on {table};
drop policy owner on {table};
alter table {table} no force row level security;
alter table {table} disable row level security;
revoke all on {table} from legalqa_reader;
"""
    for table in reversed(TABLES)
)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0001_question_sets_and_runs"),
        ("documents", "0003_row_security"),
    ]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
