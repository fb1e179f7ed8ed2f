"""A restored text and a corrected file are new versions that go the whole way."""

from __future__ import annotations

import datetime

import pytest

from documents import access, actions, pipeline, succession
from documents.access import Reader
from documents.errors import TransitionError, ValidationProblem
from documents.ingestion.process import process_document
from documents.models import AuditEvent, Chunk, Section, VersionState
from documents.tests import factories

pytestmark = pytest.mark.django_db
day = datetime.date

V1 = "# Tool loan\n\n## 1 Loan\n\nTools are lent for 7 days.\n\n## Annex A\n\nPrices are secret.\n"
V2 = "# Tool loan\n\n## 1 Loan\n\nTools are lent for 10 days.\n\n## Annex A\n\nPrices rise.\n"


def _texts(as_of: datetime.date | None = None, *labels: str) -> set[str]:
    with access.reading_as(Reader.with_labels(["all-staff", *labels]), as_of):
        return set(Chunk.objects.values_list("text", flat=True))


def _read(version_id: int):
    """The version, read in this process as a worker would."""
    from unittest import mock

    with mock.patch.object(pipeline, "read_confined", factories._parse_here):
        pipeline.ingest_version(version_id)
    return factories.version(version_id)


def _restrict_annex(version) -> None:
    factories.label("secret", role="restriction")
    with access.editing():
        annex = Section.objects.get(version=version, number="Annex A")
    actions.set_section_labels(annex.pk, ["secret"], actor=None)


def test_a_restored_version_is_a_new_one_with_the_earlier_text():
    first = factories.published(V1, policy_slug="loan", effective_from=day(2024, 1, 1))
    second = factories.published(V2, policy_slug="loan", effective_from=day(2025, 1, 1))

    received = succession.restore_version(
        first.pk, first_day=day(2026, 2, 1), actor=None, note="the new rule was void"
    )
    made = _read(received.version_id)
    actions.approve_version(made.pk, reviewer=None)
    factories.index(made.pk)

    assert made.number == 3
    assert "Tools are lent for 7 days." in _texts(day(2026, 2, 1))
    assert "Tools are lent for 10 days." in _texts(day(2026, 1, 31))
    assert access.effective_days(factories.version(second.pk))[1] == day(2026, 1, 31)
    event = AuditEvent.objects.get(action="version_restored")
    assert event.after == {"from": 1, "note": "the new rule was void"}


def test_a_restored_version_keeps_its_restricted_annex_closed():
    first = factories.published(V1, policy_slug="loan", effective_from=day(2024, 1, 1))
    _restrict_annex(first)
    factories.published(V2, policy_slug="loan", effective_from=day(2025, 1, 1))

    received = succession.restore_version(first.pk, first_day=None, actor=None, note="void")
    made = _read(received.version_id)
    actions.approve_version(made.pk, reviewer=None)
    factories.index(made.pk)

    assert _texts() == {"Tools are lent for 7 days."}
    assert "Prices are secret." in _texts(None, "secret")


def test_what_is_in_force_or_was_never_published_is_not_restored():
    first = factories.published(V1, policy_slug="loan", effective_from=day(2024, 1, 1))
    waiting = factories.parsed(V2, policy_slug="loan", effective_from=day(2025, 1, 1))

    with pytest.raises(ValidationProblem, match="Version 1 holds this text already"):
        succession.restore_version(first.pk, first_day=None, actor=None, note="again")
    with pytest.raises(TransitionError):
        succession.restore_version(waiting.pk, first_day=None, actor=None, note="again")
    with pytest.raises(ValidationProblem, match="note"):
        succession.restore_version(first.pk, first_day=None, actor=None, note=" ")


def test_a_withdrawn_version_can_come_back():
    first = factories.published(V1, policy_slug="loan", effective_from=day(2024, 1, 1))
    actions.withdraw_version(first.pk, actor=None, note="published in error")

    received = succession.restore_version(
        first.pk, first_day=day(2024, 1, 1), actor=None, note="it was right after all"
    )

    assert (received.number, received.is_duplicate) == (2, False)


@pytest.mark.parametrize("step", ["received", "parsing", "awaiting", "indexing"])
def test_a_file_is_corrected_before_publication_at_every_step(step):
    made = factories.received(V1, policy_slug="loan", effective_from=day(2025, 3, 1))
    job = pipeline._claim(made.pk) if step == "parsing" else None
    if step in ("awaiting", "indexing"):
        made = _read(made.pk)
    if step == "indexing":
        actions.approve_version(made.pk, reviewer=None)

    received = succession.correct_version(
        made.pk, V2.encode(), "loan.md", actor=None, note="a wrong number of days"
    )

    if job is not None:  # the worker that reads the first file comes to its end
        pipeline._store(job, process_document(
            V1.encode(), file_name="loan.md", title=None,
            count_tokens=lambda text: len(text.split()), screen=lambda *_: (),
        ))  # fmt: skip
    pipeline.index_here(made.pk)
    corrected = _read(received.version_id)
    assert factories.version(made.pk).state == VersionState.REJECTED
    assert _texts() == set()
    assert access.effective_days(corrected) == (day(2025, 3, 1), None)
    assert corrected.state == VersionState.AWAITING_APPROVAL
    actions.approve_version(corrected.pk, reviewer=None)
    factories.index(corrected.pk)
    assert "Tools are lent for 10 days." in _texts()
    assert "Tools are lent for 7 days." not in _texts()


def test_a_corrected_file_keeps_its_restricted_annex_closed_or_fails():
    made = factories.parsed(V1, policy_slug="loan")
    _restrict_annex(made)

    kept = _read(
        succession.correct_version(
            made.pk, V2.encode(), "loan.md", actor=None, note="days"
        ).version_id
    )
    with access.editing():
        assert kept.sections.filter(labels__slug="secret").exists()
    lost = _read(
        succession.correct_version(
            kept.pk, V2.replace("Annex A", "Prices").encode(), "loan.md", actor=None, note="name"
        ).version_id
    )

    assert lost.state == VersionState.FAILED
    assert lost.detail.failure == pipeline.LABELS_LOST


def test_what_is_published_is_not_corrected_in_place():
    made = factories.published(V1, policy_slug="loan")

    with pytest.raises(ValidationProblem, match="Upload the corrected file as the next version"):
        succession.correct_version(made.pk, V2.encode(), "loan.md", actor=None, note="x")
    waiting = factories.parsed(V2, policy_slug="loan", effective_from=day(2025, 1, 1))
    with pytest.raises(ValidationProblem, match="has already"):
        succession.correct_version(waiting.pk, V2.encode(), "loan.md", actor=None, note="x")
    assert factories.version(waiting.pk).state == VersionState.AWAITING_APPROVAL


def test_days_are_set_until_a_version_is_approved():
    factories.published(V1, policy_slug="loan", effective_from=day(2024, 1, 1))
    waiting = factories.parsed(V2, policy_slug="loan", effective_from=day(2025, 1, 1))

    def set_days(first, last=None) -> None:
        succession.set_days(waiting.pk, first_day=first, last_day=last, actor=None)

    with pytest.raises(ValidationProblem, match="already starts on 2024-01-01"):
        set_days(day(2024, 1, 1))
    with pytest.raises(ValidationProblem, match="lies before the first"):
        set_days(day(2025, 2, 1), day(2025, 1, 1))
    set_days(day(2025, 2, 1), day(2025, 2, 28))
    assert access.effective_days(factories.version(waiting.pk)) == (
        day(2025, 2, 1),
        day(2025, 2, 28),
    )
    assert AuditEvent.objects.get(action="version_days_set").before == {
        "days": ["2025-01-01", "None"]
    }
    actions.approve_version(waiting.pk, reviewer=None)
    with pytest.raises(TransitionError):
        set_days(day(2025, 3, 1))


def test_a_correction_that_another_version_holds_leaves_both_as_they_are():
    factories.published(V1, policy_slug="loan", effective_from=day(2024, 1, 1))
    waiting = factories.parsed(V2, policy_slug="loan", effective_from=day(2025, 1, 1))

    with pytest.raises(ValidationProblem, match="Version 1 holds this text already"):
        succession.correct_version(waiting.pk, V1.encode(), "l.md", actor=None, note="a slip")

    assert factories.version(waiting.pk).state == VersionState.AWAITING_APPROVAL
