"""What reading a file leaves behind: pages, clauses, references, warnings; and what is checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from documents import access, actions, stewards
from documents.errors import ValidationProblem
from documents.models import Chunk, ManagedDepartment, PageLayout, PolicyVersion, VersionDetail
from documents.records import ClauseRecord, HiddenText, Notice, PageRecord, ReferenceRecord
from documents.tests import factories

pytestmark = pytest.mark.django_db

PAGES = [
    ["# 1 Fares", "Second class is paid, see 2.", "It is booked early."],
    ["# 2 Meals", "Meals are paid up to 40 euros."],
]
LONG = "# Leave\n\n## 1 Leave\n\n" + " ".join(
    f"Clause {i} gives staff {i} days of leave for reason number {i * 7}." for i in range(1, 30)
)


def codes(version: PolicyVersion) -> set[str]:
    with access.editing():
        return {w["code"] for w in VersionDetail.objects.get(pk=version.pk).warnings}


def warned(version: PolicyVersion, user: object) -> list[Notice]:
    with access.editing():
        fresh = PolicyVersion.objects.select_related("detail", "policy").get(pk=version.pk)
        return list(stewards.warnings_of(fresh, user))  # type: ignore[arg-type]  # a user


def test_pages_clauses_and_references_are_kept_with_their_passages():
    data, document = factories.pdf(PAGES)
    at = document.text.index("see 2")
    made = factories.stored(
        data,
        document,
        clauses=(ClauseRecord(0, "1(a)", None, at, at + 500),),
        references=(ReferenceRecord(at, at + 5, 1),),
    )

    with access.editing():
        first, *_ = Chunk.objects.filter(version=made).order_by("ordinal")
        pages = list(PageLayout.objects.filter(version=made))
    assert first.pages == [1]
    assert first.page_starts == [first.start]
    assert first.clauses == [{"label": "1(a)", "marker": None, "start": at, "end": first.end}]
    assert first.references == [{"start": at, "end": at + 5, "target": 1, "label": None}]
    assert [(page.number, page.start) for page in pages] == [
        (1, 0),
        (2, document.text.index("2 Meals")),
    ]


def test_reading_a_file_again_replaces_its_pages():
    data, document = factories.pdf(PAGES)
    made = factories.stored(data, document)
    with access.editing():
        VersionDetail.objects.filter(pk=made.pk).update(failure="x")
        PolicyVersion.objects.filter(pk=made.pk).update(state="failed")
    actions.retry_version(made.pk, actor=None)
    factories.stored_again(made, replace(document, pages=document.pages[:1]))

    with access.editing():
        assert PageLayout.objects.filter(version=made).count() == 1


def test_a_reference_to_a_mere_heading_leads_to_what_stands_under_it():
    pages = [["# 1 Fares", "See part 2."], ["# 2 Extras", "## 2.1 Meals", "Meals are paid."]]
    data, document = factories.pdf(pages)
    at = document.text.index("part 2")
    made = factories.stored(data, document, references=(ReferenceRecord(at, at + 6, 1),))

    with access.editing():
        chunk = Chunk.objects.filter(version=made).order_by("ordinal")[0]
    assert chunk.references[0]["target"] == 2


def test_characters_that_the_database_does_not_take_are_left_out():
    data, document = factories.pdf(
        PAGES, hidden=(HiddenText("a\x00b", "metadata"),), metadata={"author": "x\x00y"}
    )
    made = factories.stored(data, document)

    with access.editing():
        detail = VersionDetail.objects.get(pk=made.pk)
    assert detail.hidden_text[0]["text"] == "ab"
    assert detail.metadata["author"] == "xy"


def test_pages_without_text_are_published_only_when_a_person_says_so():
    data, document = factories.pdf(
        PAGES, warnings=(Notice("pages_without_text", "Page 2 is a picture.", (2,)),)
    )
    made = factories.stored(data, document, publish=True)
    assert made.state == "awaiting_approval"

    with pytest.raises(ValidationProblem, match="gave no text: 2") as refused:
        actions.approve_version(made.pk, reviewer=None)
    assert refused.value.code == "pages_unread"

    actions.approve_version(made.pk, reviewer=None, accept_unread_pages=True)
    assert factories.version(made.pk).state == "indexing"


def test_a_page_that_the_parser_never_gave_counts_as_unread():
    data, document = factories.pdf(PAGES)
    pages = (document.pages[0], replace(document.pages[1], number=3))
    made = factories.stored(data, replace(document, pages=pages))

    with pytest.raises(ValidationProblem, match="gave no text: 2"):
        actions.approve_version(made.pk, reviewer=None)


def test_text_in_no_passage_is_a_warning():
    data, document = factories.pdf(PAGES)
    longer = factories.pdf([*PAGES, ["# 3 Lost", "These words are lost. " * 4]])[1]
    kept = factories.stored(data, document)
    lost = factories.stored(data, longer, skip_after=len(document.text))

    assert "low_coverage" not in codes(kept)
    assert "low_coverage" in codes(lost)


def test_another_language_than_the_policys_or_the_earlier_versions_is_a_warning():
    data, document = factories.pdf(PAGES)
    english = factories.stored(data, document, policy_slug="travel")
    french = factories.stored(data + b"%", replace(document, language="fr"), policy_slug="travel")
    declared = factories.stored(data, document, policy_slug="german", language="de")
    british = factories.stored(data, document, policy_slug="british", language="en-GB")

    assert "language_differs" not in codes(english)
    assert "language_differs" in codes(french)
    assert "language_differs" in codes(declared)
    assert "language_differs" not in codes(british)


def test_a_near_copy_of_another_policy_is_named_to_those_who_manage_both_alone():
    factories.parsed(LONG, policy_slug="leave", title="Leave rules", department="HR")
    copy = factories.parsed(LONG + "\n\nOne more sentence.", policy_slug="copy", department="IT")
    both = factories.user(is_staff=True)
    own = factories.user(is_staff=True)
    for user, departments in ((both, ("HR", "IT")), (own, ("IT",))):
        for department in departments:
            ManagedDepartment.objects.create(user=user, department=department)

    (notice,) = [n for n in warned(copy, both) if n.code == "suspected_duplicate"]
    assert "version 1 of Leave rules" in notice.message
    assert [n.code for n in warned(copy, own)] == [
        n.code for n in warned(copy, both) if n.code != "suspected_duplicate"
    ]
    assert "suspected_duplicate" not in codes(copy)


def test_an_earlier_version_is_no_duplicate_and_neither_is_what_was_withdrawn():
    gone = factories.published(LONG, policy_slug="old")
    actions.withdraw_version(gone.pk, actor=None, note="replaced")
    factories.parsed(LONG, policy_slug="leave")
    again = factories.parsed(LONG + "\n\nMore.", policy_slug="leave")

    assert warned(again, factories.user(is_staff=True, is_superuser=True)) == []


def test_confidence_and_label_of_a_page_are_kept():
    data, document = factories.pdf(PAGES)
    page = replace(document.pages[0], label="iv", ocr_confidence=0.87)
    made = factories.stored(data, replace(document, pages=(page, document.pages[1])))

    with access.editing():
        kept = PageLayout.objects.get(version=made, number=1)
    assert isinstance(page, PageRecord)
    assert (kept.label, kept.ocr_confidence) == ("iv", 0.87)
