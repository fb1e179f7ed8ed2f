"""What the database gives the role that reads for people: an exact list, and nothing besides.

Row-level security decides which rows of these columns a reader gets. What is not listed here no
reader can get, whatever the application does: no whole section text, file, count, warning,
finding, key, audit row or question set. A new grant fails here until somebody has listed it.
"""

from __future__ import annotations

import dataclasses
import datetime

import pytest
from django.db import ProgrammingError, connection

from documents import access
from documents.access import Reader
from documents.tests import factories

pytestmark = pytest.mark.django_db

# Every column that the reader's role may select.
READABLE = {
    "documents_policy": "id public_id slug title contact department category language review_by"
    " jurisdiction source_url source_licence retrieved_on created_at owner_id",
    "documents_policyversion": "id public_id number state media_type language created_at policy_id",
    "documents_versionend": "version_id last_day",
    "documents_section": "id public_id ordinal level number title display_title path start"
    " body_start end pages parent_id version_id",
    "documents_chunk": "id public_id ordinal text start end overlap pages page_starts clauses"
    " references source_url kind state"
    " effective_from live token_count embedding embedding_model access_class_id"
    " version_id section_id",
    "documents_chunkvector": "id chunk_id model_id embedding",
    "documents_chunkterms": "chunk_id access_class effective_from is_counted terms weights",
    "documents_termstat": "term access_class df",
    "documents_termdelta": "term access_class df",
    "qa_questionrecord": "id public_id asker_id asker_name as_of door question_digest asked_at",
    "qa_questiontext": "question_record_id salt question shown chunk_ids",
    "qa_outcomerecord": "question_id status refusal_code language model prompt_version"
    " corpus_revision passages verdicts steps input_tokens output_tokens cached_tokens cost_usd"
    " finished_at",
    "evaluation_evaluationrun": "id public_id set_name set_version answerer settings code_version"
    " started_at finished_at",
    "evaluation_runresult": "id run_id ordinal key question answerable expected terms labels as_of"
    " status error outcome retrieved scores passed corpus_revision needed_classes chunk_ids",
}
# Functions of ours that it may call; all run with the rights of whoever calls them.
FUNCTIONS = {
    "documents_keep_used_label",  # a trigger's: no query can call it
    "documents_retrieve",
    "documents_compact_term_stats",  # needs rights on its tables that a reader lacks
    "documents_chunk_sync",  # a trigger's
    "documents_chunk_terms_count",  # a trigger's
    "documents_keep_version_end",  # a trigger's
}
PROTECTED = (
    "documents_sectiontext",
    "documents_versiondetail",
    "documents_pagelayout",
    "documents_finding",
    "documents_uploadbatch",
    "documents_batchitem",
    "documents_mirroredfile",
    "documents_embeddingmodel",
    "documents_foreignchain",
    "documents_foreignevent",
    "documents_auditevent",
    "documents_labelgrant",
    "evaluation_question",
    "evaluation_questionset",
    "qa_apikey",
    "auth_user",
)


# Relations of ours, by kind; the system's own schemas are left out.
OURS = (
    "c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'pg_toast')"
    " and c.relkind = any (%s)"
)
TABLES, SEQUENCES = list("rpvmf"), ["S"]


def _rows(sql: str, *values: list[str]) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql.replace("{ours}", OURS), values)
        return [tuple(row) for row in cursor.fetchall()]


def _tables() -> set[str]:
    return {name for (name,) in _rows("select c.relname from pg_class c where {ours}", TABLES)}


def _reader() -> Reader:
    return Reader.for_user(factories.user())


def test_reading_takes_the_readers_role_on_the_applications_connection() -> None:
    with access.reading_as(_reader()):
        assert _rows("select session_user::text, current_user::text") == [
            ("legalqa_app", "legalqa_reader")
        ]


def test_the_reader_may_select_exactly_these_columns() -> None:
    found: dict[str, set[str]] = {}
    for table, column in _rows(
        "select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where {ours} and a.attnum > 0 and not a.attisdropped"
        " and has_column_privilege('legalqa_reader', c.oid, a.attnum, 'select')",
        TABLES,
    ):
        found.setdefault(table, set()).add(column)

    assert found == {table: set(columns.split()) for table, columns in READABLE.items()}


def test_the_reader_may_write_nothing_and_holds_no_other_right() -> None:
    on_tables = _rows(
        "select c.relname from pg_class c where {ours} and (has_table_privilege('legalqa_reader',"
        " c.oid, 'insert, update, delete, truncate, references, trigger') or"
        " has_any_column_privilege('legalqa_reader', c.oid, 'insert, update, references'))",
        TABLES,
    )
    on_sequences = _rows(
        "select c.relname from pg_class c where {ours}"
        " and has_sequence_privilege('legalqa_reader', c.oid, 'usage, select, update')",
        SEQUENCES,
    )
    on_schemas = _rows(
        "select nspname from pg_namespace"
        " where has_schema_privilege('legalqa_reader', oid, 'create')"
    )

    assert (on_tables, on_sequences, on_schemas) == ([], [], [])


def test_the_reader_is_no_member_of_another_role_and_bypasses_nothing() -> None:
    assert _rows(
        "select rolname from pg_roles where pg_has_role('legalqa_reader', oid, 'member')"
    ) == [("legalqa_reader",)]
    assert (
        _rows(
            "select rolname from pg_roles where rolname in ('legalqa_reader', 'legalqa_app')"
            " and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb)"
        )
        == []
    )
    assert _rows("select tablename from pg_tables where tableowner = 'legalqa_reader'") == []


def test_the_reader_may_call_exactly_these_functions_with_its_own_rights() -> None:
    found = _rows(
        "select p.proname, p.prosecdef::text from pg_proc p"
        " join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'public'"
        " and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')"
        " and has_function_privilege('legalqa_reader', p.oid, 'execute')"
    )

    assert {name for name, _ in found} == FUNCTIONS
    assert {security_definer for _, security_definer in found} == {"false"}
    with _denied(), access.reading_as(_reader()):
        _rows("select documents_compact_term_stats()::text")


def test_everything_else_is_denied_when_it_is_tried() -> None:
    others = _tables() - READABLE.keys()
    assert set(PROTECTED) <= others

    for table in sorted(others):
        with _denied(), access.reading_as(_reader()):
            _rows(f'select 1 from "{table}" limit 1')  # noqa: S608 - a name from the catalogue


def _denied() -> pytest.RaisesExc[ProgrammingError]:
    return pytest.raises(ProgrammingError, match="permission denied")


def test_the_counts_of_an_evaluation_run_are_denied_though_its_name_is_not() -> None:
    for column in ("questions", "metrics", "thresholds", "corpus_revision"):
        with _denied(), access.reading_as(_reader()):
            _rows(f"select {column}::text from evaluation_evaluationrun")  # noqa: S608 - listed above


def test_no_readable_table_shows_anything_of_a_future_version() -> None:
    tomorrow = access.today() + datetime.timedelta(days=1)
    factories.published(effective_from=tomorrow)

    assert _seen(_reader()) == set()
    assert _seen(Reader.with_labels(["all-staff"])) == set()


def test_the_database_itself_tells_nothing_of_a_version_to_come() -> None:
    """The version in force is closed on the day before its successor begins: raw SQL says none."""
    today = access.today()
    factories.published("# Rules\n\n## 1 A\n\nThe old rule holds.\n", policy_slug="rules")
    before = _everything(_reader())
    next_week = today + datetime.timedelta(days=7)
    factories.published(
        "# Rules\n\n## 1 A\n\nThe new rule holds.\n", policy_slug="rules", effective_from=next_week
    )

    assert before
    assert _everything(_reader()) == before
    for column in ("effective", "updated_at", "xmin"):
        with _denied(), access.reading_as(_reader()):
            _rows(f"select {column}::text from documents_policyversion")  # noqa: S608 - listed above
    for table in ("documents_chunk", "documents_chunkterms"):
        with _denied(), access.reading_as(_reader()):
            _rows(f"select effective_to::text from {table}")  # noqa: S608 - listed above


def test_an_end_is_told_once_it_is_past_and_before_to_those_who_read_ahead() -> None:
    today = access.today()
    yesterday, next_week = today - datetime.timedelta(1), today + datetime.timedelta(7)
    factories.published(effective_from=datetime.date(2024, 1, 1), effective_to=yesterday)
    factories.published(effective_from=datetime.date(2024, 1, 1), effective_to=next_week)
    ahead = dataclasses.replace(_reader(), may_read_scheduled=True)

    assert _ends(_reader(), today) == []
    assert _ends(ahead, today) == [next_week]
    assert _ends(_reader(), yesterday) == [yesterday]
    assert _ends(ahead, yesterday) == [yesterday, next_week]


def _ends(reader: Reader, as_of: datetime.date) -> list[datetime.date]:
    with access.reading_as(reader, as_of), connection.cursor() as cursor:
        cursor.execute("select last_day from documents_versionend order by 1")
        return [day for (day,) in cursor.fetchall()]


def _everything(reader: Reader) -> list[str]:
    """Every readable row of the content tables, as text; a new reader's own name apart."""
    rows = []
    with access.reading_as(reader):
        for table, columns in READABLE.items():
            if not table.startswith("documents_"):
                continue
            listed = ", ".join(f'"{column}"' for column in columns.split())
            rows += _rows(f"select '{table}' || row({listed})::text from \"{table}\"")  # noqa: S608 - listed above
    return sorted(map(str, rows))


def test_the_readable_tables_show_a_version_in_force_so_the_test_above_can_fail() -> None:
    factories.published()

    assert _seen(_reader()) >= {
        "documents_policy",
        "documents_policyversion",
        "documents_section",
        "documents_chunk",
        "documents_chunkterms",
    }


def _seen(reader: Reader) -> set[str]:
    """The readable tables in which the reader finds a row."""
    with access.reading_as(reader):
        return {
            table
            for table in READABLE
            if _rows(f'select 1 from "{table}" limit 1')  # noqa: S608 - listed above
        }
