"""The pages of a policy's history: what a reader may read of each version, and what changed."""

from __future__ import annotations

import datetime
import re

import pytest
from django.test import Client

from documents import access, actions
from documents.models import Section
from documents.tests import factories

pytestmark = pytest.mark.django_db
day = datetime.date

OLD = (
    "# Gifts\n\n## 1 Scope\n\nThis policy is for all staff.\n\n"
    "## 2 Gifts\n\nGifts over 50 EUR must be declared within five days.\n\n"
    "## 3 Prices\n\nThe canary costs nine crowns a day in winter.\n"
)
NEW = (
    "# Gifts\n\n## 1 Scope\n\nThis policy is for all staff.\n\n"
    "## 2 Gifts\n\nGifts over 80 EUR must be declared within five days.\n\n"
    "## 3 Prices\n\nThe canary costs ten crowns a day in winter.\n"
)


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(factories.user("emp"))
    return client


def _two() -> None:
    for number, (text, first) in enumerate(((OLD, day(2024, 1, 1)), (NEW, day(2025, 1, 1)))):
        made = factories.published(
            text, policy_slug="gifts", title="Gifts", effective_from=first, file_name="g.md"
        )
        assert made.number == number + 1


def _hide_prices() -> None:
    factories.label("secret", role="restriction")
    with access.editing():
        found = list(Section.objects.filter(title="Prices").values_list("pk", flat=True))
    for pk in found:
        actions.set_section_labels(pk, ["secret"], actor=None)


def _text(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_history_lists_versions_with_their_days(browser):
    _two()

    page = _text(browser.get("/policies/gifts/history/"))

    assert "Version 2 in force since 1 January 2025 in force today" in page
    assert "Version 1 in force from 1 January 2024 to 31 December 2024" in page
    assert "All versions" in _text(browser.get("/policies/gifts/"))


def test_changes_mark_the_words_and_keep_the_rest_quiet(browser):
    _two()
    _hide_prices()

    response = browser.get("/policies/gifts/changes/1/2/")
    html = response.content.decode()

    assert "<del>50 </del><ins>80 </ins>" in html
    assert "Changed: 1" in html
    assert "Unchanged: 1" in html
    assert "canary" not in html
    assert "Compared is what you may read of both versions." in html


def test_what_is_missing_and_what_is_forbidden_look_alike(browser):
    _two()
    factories.label("board")
    factories.published(OLD, policy_slug="secret", labels=["board"], title="Canary")
    missing = browser.get("/policies/nothing/history/")

    for path in (
        "/policies/secret/history/",
        "/policies/secret/changes/1/2/",
        "/policies/gifts/changes/1/3/",
        "/policies/gifts/changes/99999999999/1/",
    ):
        answer = browser.get(path)
        assert (answer.status_code, _text(answer)) == (404, _text(missing))


@pytest.mark.parametrize(
    ("on", "said"),
    [
        ("2023-12-31", "The next begins on 1 January 2024."),
        ("2024-05-01", "The one before ended on 31 March 2024. The next begins on 1 June 2024."),
        ("2024-09-01", "The one before ended on 31 August 2024."),
    ],
)
def test_a_day_without_a_version_is_told_by_what_is_around_it(browser, on, said):
    factories.published(
        OLD,
        policy_slug="gifts",
        title="Gifts",
        effective_from=day(2024, 1, 1),
        effective_to=day(2024, 3, 31),
    )
    second = factories.published(NEW, policy_slug="gifts", effective_from=day(2024, 6, 1))
    actions.retire_version(second.pk, last_day=day(2024, 8, 31), actor=None)

    response = browser.get(f"/policies/gifts/?as_of={on}")

    assert response.status_code == 404
    assert f"that you may read was in force on {_words(on)}. {said}" in _text(response)
    assert "Version 1" in _text(response)


def _words(on: str) -> str:
    value = day.fromisoformat(on)
    return f"{value.day} {value:%B %Y}"


def test_a_version_to_come_is_named_to_those_alone_who_may_read_ahead(browser):
    factories.published(OLD, policy_slug="gifts", title="Gifts", effective_from=day(2090, 1, 1))
    reviewer = Client()
    reviewer.force_login(factories.user("rev", groups=["reviewer"]))

    assert "Gifts" not in _text(browser.get("/policies/gifts/"))
    page = _text(reviewer.get("/policies/gifts/"))
    assert "The next begins on 1 January 2090." in page
    assert "not yet in force" in page


def test_pages_of_versions_speak_chinese(browser):
    _two()

    page = browser.get("/policies/gifts/changes/1/2/", headers={"accept-language": "zh-Hant"})

    assert "《Gifts》的變更內容" in page.content.decode()
    assert "已變更: 2" in page.content.decode()
