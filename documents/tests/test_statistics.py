"""Term statistics stay exact through every change, and hidden text moves no score."""

from __future__ import annotations

import datetime
import random
from collections import Counter

import pytest
from django.db import connection

from documents import access, actions, tasks
from documents.access import Reader
from documents.models import (
    Chunk,
    ChunkTerms,
    PolicyVersion,
    Section,
    TermDelta,
    TermStat,
)
from documents.tests import factories

pytestmark = pytest.mark.django_db


def _kept() -> Counter[tuple[int, int]]:
    """What the triggers have counted, changes and totals together, without zeros."""
    totals: Counter[tuple[int, int]] = Counter()
    for model in (TermStat, TermDelta):
        for term, access_class, df in model.objects.values_list("term", "access_class", "df"):
            totals[term, access_class] += df
    return Counter({key: df for key, df in totals.items() if df})


def _rebuilt() -> Counter[tuple[int, int]]:
    """The same from scratch: each counted chunk once for each of its terms, and for term 0."""
    totals: Counter[tuple[int, int]] = Counter()
    for row in ChunkTerms.objects.filter(is_counted=True):
        for term in [*row.terms, 0]:
            totals[term, row.access_class] += 1
    return totals


def _text(seed: int) -> str:
    words = ["travel", "hotel", "claim", "receipt", "approval", "director", "train", "limit"]
    pick = random.Random(seed)  # noqa: S311 - test data
    clauses = [
        f"{n}.1 Staff shall keep the {pick.choice(words)} {pick.choice(words)} {seed}."
        for n in (1, 2, 3)
    ]
    return (
        "# P\n\n" + "\n\n".join(f"## {n} Part {n}\n\n{c}" for n, c in enumerate(clauses, 1)) + "\n"
    )


def test_statistics_equal_a_rebuild_after_random_operations():
    pick = random.Random(7)  # noqa: S311 - test data
    for slug in ("hr", "board"):
        factories.label(slug)
    versions: list[PolicyVersion] = []
    for step in range(24):
        act = pick.choice(
            ["publish", "publish", "withdraw", "relabel", "annex", "compact", "retire"]
        )
        if act == "publish" or not versions:
            versions.append(
                factories.published(_text(step), labels=(pick.choice(["all-staff", "hr"]),))
            )
        elif act == "withdraw":
            actions.withdraw_version(versions.pop().pk, actor=None, note="x")
        elif act == "relabel":
            actions.set_version_labels(pick.choice(versions).pk, ["board"], actor=None)
        elif act == "annex":
            with access.editing():
                section = Section.objects.filter(version=pick.choice(versions)).latest("ordinal")
            actions.set_section_labels(section.pk, ["hr"], actor=None)
        elif act == "retire":
            actions.retire_version(
                versions.pop().pk, last_day=datetime.date(2024, 6, 30), actor=None
            )
        else:
            tasks.compact_term_statistics()
        with access.editing():
            assert _kept() == _rebuilt(), f"after step {step}, {act}"


def test_scheduled_chunks_count_from_their_first_day():
    tomorrow = access.today() + datetime.timedelta(days=1)
    factories.published(_text(1), effective_from=tomorrow)
    with access.editing():
        assert not _kept()
        ChunkTerms.objects.update(effective_from=access.today())  # as if the day had come

    assert tasks.count_versions_that_begin() == 3

    with access.editing():
        assert _kept() == _rebuilt() != Counter()


def _candidates(reader: Reader, question: str) -> tuple[access.Candidates, str]:
    from documents import embedding
    from documents.ingestion import analysis

    vector = tuple(float(x) for x in embedding.encode_query(question, "en"))
    with access.reading_as(reader) as reading:
        return (
            access.candidates(reading, vector, analysis.query_terms(question, "en")),
            access.corpus_revision(reading),
        )


def test_documents_that_a_reader_may_not_read_move_no_score_and_no_revision():
    for seed in range(5):
        factories.published(_text(seed))
    reader = Reader.for_user(factories.user())
    question = "What is the hotel limit for a receipt?"
    before = _candidates(reader, question)

    tomorrow = access.today() + datetime.timedelta(days=1)
    hidden = [factories.published(_text(50 + seed), labels=("hr",)) for seed in range(4)]
    hidden.append(factories.published(_text(99), effective_from=tomorrow))
    held = factories.parsed(_text(100))
    assert _candidates(reader, question) == before
    tasks.compact_term_statistics()
    assert _candidates(reader, question) == before
    for version in hidden:
        actions.withdraw_version(version.pk, actor=None, note="x")
    actions.reject_version(held.pk, reviewer=None, note="x")
    assert _candidates(reader, question) == before


def test_both_paths_of_the_search_find_the_same(settings):
    for seed in range(12):
        factories.published(_text(seed))
    reader = Reader.for_user(factories.user())
    question = "hotel receipt director"
    exact, _ = _candidates(reader, question)
    settings.RETRIEVAL_EXACT_MAX_CHUNKS = 5

    indexed, _ = _candidates(reader, question)

    assert {h.chunk_id: h.bm25 for h in indexed.hits if h.lexical_rank} == {
        h.chunk_id: h.bm25 for h in exact.hits if h.lexical_rank
    }
    assert {h.chunk_id for h in indexed.hits} == {h.chunk_id for h in exact.hits}


def test_bm25_in_the_database_equals_bm25_by_hand():
    import math

    from documents.ingestion import analysis

    factories.published("# A\n\n## 1 One\n\nHotel receipts are kept.\n", policy_slug="a")
    factories.published("# B\n\n## 1 Two\n\nTrains are booked early.\n", policy_slug="b")
    reader = Reader.for_user(factories.user())
    question = "hotel receipts"
    found, _ = _candidates(reader, question)
    terms = analysis.query_terms(question, "en")

    expected = {}
    with access.editing():
        rows = list(ChunkTerms.objects.all())
        texts = dict(Chunk.objects.values_list("pk", "text"))
    for row in rows:
        weights = dict(zip(row.weights.indices(), row.weights.values(), strict=True))
        score = 0.0
        for term in terms:
            df = sum(term in other.terms for other in rows)
            idf = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
            score += idf * weights.get(term - 1, 0.0)
        expected[row.pk] = score
    best = max(found.hits, key=lambda hit: hit.bm25)
    assert texts[best.chunk_id].startswith("Hotel")
    for hit in found.hits:
        assert hit.bm25 == pytest.approx(expected[hit.chunk_id], rel=1e-4, abs=1e-6)


def test_the_search_function_has_no_definer_rights_and_a_fixed_path():
    with connection.cursor() as cursor:
        cursor.execute(
            "select prosecdef, proconfig from pg_proc where proname = 'documents_retrieve'"
        )
        row = cursor.fetchone()
    assert row is not None
    assert row[0] is False
    assert "search_path=public, pg_temp" in row[1]
