"""Who reads what: labels with their effect shown first, four eyes to widen, and the reasons."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from documents import access, actions, readership, relabelling
from documents.access import Reader
from documents.errors import ValidationProblem
from documents.models import (
    AccessLabel,
    AuditEvent,
    Chunk,
    LabelGrant,
    LabelProposal,
    PolicyVersion,
    Section,
)
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.admin.support import CANARY, client_of

pytestmark = pytest.mark.django_db
BASE = "/admin/documents/policyversion/"
TRAVEL = (
    "# Travel\n\n## 1 Fares\n\nSecond class is paid.\n\n## 2 Hotels\n\nHotels are booked.\n\n"
    "## Annex A Directors\n\nDirectors fly first class.\n"
)


def person(name: str, group: str) -> User:
    return support.person(name, group, "HR")


@pytest.fixture
def world() -> Any:
    """A published policy with three sections; ann reads it, hana reads hr too, bea the board."""
    board = Group.objects.create(name="board members")
    LabelGrant.objects.create(label=factories.label("board"), group=board)
    made = factories.published(TRAVEL, policy_slug="travel", title="Travel", department="HR")
    bea = factories.user("bea")
    bea.groups.add(board)
    return SimpleNamespace(
        version=made,
        ann=factories.user("ann"),
        hana=factories.user("hana", labels=["hr"]),
        bea=bea,
        administrator=person("administrator", "administrator"),
        second=person("second", "administrator"),
        auditor=person("auditor", "auditor"),
    )


def _section(version: PolicyVersion, number: str) -> Section:
    with access.editing():
        return Section.objects.get(version=version, number=number)


def _ids(*slugs: str) -> list[int]:
    return [AccessLabel.objects.get(slug=slug).pk for slug in slugs]


def _post(user: User, version: PolicyVersion, **data: object) -> Any:
    return client_of(user).post(f"{BASE}{version.pk}/labels/", data, follow=True)


def _save(user: User, version: PolicyVersion, **data: object) -> Any:
    """Look at the effect, then save what was shown."""
    shown = _post(user, version, **data)
    effect = shown.context["effect"]
    assert effect is not None, support.said(shown)
    return _post(user, version, seen=effect.seen, **data)


def _texts(user: User) -> set[str]:
    with access.reading_as(Reader.for_user(user)):
        return set(Chunk.objects.values_list("text", flat=True))


FARES, HOTELS, DIRECTORS = (
    "Second class is paid.",
    "Hotels are booked.",
    ("Directors fly first class."),
)


def test_an_annex_is_closed_after_its_effect_was_shown(world):
    annex = _section(world.version, "Annex A")
    data = {"labels": _ids("board"), "sections": [annex.pk]}

    shown = _post(world.administrator, world.version, **data)

    effect = shown.context["effect"]
    assert (effect.gains, effect.unread, effect.needs_second) == ((), (), False)
    assert {"ann", "hana", "administrator", "auditor", "second"} == set(effect.losses)
    assert [(s.before, s.after) for s in effect.sections] == [(("all-staff",), ("board",))]
    assert _texts(world.ann) == {FARES, HOTELS, DIRECTORS}  # shown, not saved
    _save(world.administrator, world.version, **data)
    assert _texts(world.ann) == {FARES, HOTELS}
    assert _texts(world.bea) == {FARES, HOTELS, DIRECTORS}
    assert AuditEvent.objects.filter(action="section_labels_changed").count() == 1


def test_a_section_is_opened_inside_a_closed_policy_and_given_back(world):
    fares = _section(world.version, "1")
    _save(world.administrator, world.version, labels=_ids("hr"))
    _save(world.administrator, world.version, labels=_ids("all-staff"), sections=[fares.pk])
    assert _texts(world.ann) == {FARES}
    assert _texts(world.hana) == {FARES, HOTELS, DIRECTORS}

    _save(world.administrator, world.version, labels=[], sections=[fares.pk])

    assert _texts(world.ann) == set()


def test_several_sections_at_once(world):
    wanted = [_section(world.version, number).pk for number in ("2", "Annex A")]
    _save(world.administrator, world.version, labels=_ids("hr"), sections=wanted)

    assert _texts(world.ann) == {FARES}
    assert _texts(world.hana) == {FARES, HOTELS, DIRECTORS}


def test_a_save_of_what_was_not_shown_shows_it_instead(world):
    shown = _post(world.administrator, world.version, labels=_ids("board"))
    LabelGrant.objects.create(label=factories.label("board"), user=world.ann)  # changed meanwhile

    again = _post(
        world.administrator,
        world.version,
        labels=_ids("board"),
        seen=shown.context["effect"].seen,
    )

    assert "ann" not in again.context["effect"].losses
    assert _texts(world.hana) == {FARES, HOTELS, DIRECTORS}  # nothing was saved


def test_what_nobody_could_read_is_said_and_needs_a_yes(world):
    factories.label("nobody-has-it")
    wanted = {"labels": _ids("nobody-has-it"), "sections": [_section(world.version, "1").pk]}

    refused = _save(world.administrator, world.version, **wanted)

    assert "Nobody could read this any more: 1 Fares" in support.said(refused)
    assert FARES in _texts(world.ann)
    _save(world.administrator, world.version, accepts_no_reader="on", **wanted)
    assert FARES not in _texts(world.ann)


def test_a_version_without_an_audience_is_refused(world):
    factories.label("legal", role="restriction")
    refused = _post(world.administrator, world.version, labels=_ids("legal"))

    assert "at least one audience label" in support.said(refused)
    assert FARES in _texts(world.ann)


def test_owners_label_before_approval_and_see_numbers_not_names(world):
    owner = person("olga", "policy owner")
    waiting = factories.parsed(policy_slug="new", title="New", department="HR")

    shown = _post(owner, waiting, labels=_ids("hr")).content.decode()

    assert "8 people" not in shown
    assert re.search(r"Loses something to read: \d+ people", shown)
    assert "hana" not in shown
    _save(owner, waiting, labels=_ids("hr"))
    with access.editing():
        assert [label.slug for label in waiting.labels.all()] == ["hr"]
    assert client_of(owner).get(f"{BASE}{world.version.pk}/labels/").status_code == 403
    assert client_of(owner).get(f"{BASE}{world.version.pk}/readers/").status_code == 403


def test_under_four_eyes_widening_waits_for_another_person_and_narrowing_does_not(world, settings):
    settings.APPROVAL = "four-eyes"
    _save(world.administrator, world.version, labels=_ids("hr"))
    assert _texts(world.ann) == set()  # narrower at once

    said = _save(world.administrator, world.version, labels=_ids("all-staff"))

    assert "another person has to accept" in support.said(said)
    assert _texts(world.ann) == set()
    proposal = _proposal()
    address = f"{BASE}{world.version.pk}/labels/{proposal.pk}/"
    own = client_of(world.administrator).post(address, {"accept": "1"}, follow=True)
    assert "another person must accept it" in support.said(own)
    assert _texts(world.ann) == set()
    client_of(world.second).post(address, {"accept": "1"})
    assert _texts(world.ann) == {FARES, HOTELS, DIRECTORS}
    assert _proposal().decision == "accepted"
    actors = AuditEvent.objects.filter(action__startswith="label_change_").order_by("pk")
    assert [(e.action, e.actor_id) for e in actors] == [
        ("label_change_proposed", world.administrator.pk),
        ("label_change_accepted", world.second.pk),
    ]


def _proposal() -> LabelProposal:
    with access.editing():
        return LabelProposal.objects.get()


def test_a_proposal_is_stale_once_the_labels_moved_and_can_be_taken_back(world, settings):
    settings.APPROVAL = "four-eyes"
    actions.set_version_labels(world.version.pk, ["hr"], actor=None)
    wanted = relabelling.Wanted(world.version.pk, ("all-staff",))
    first = relabelling.change(wanted, actor=world.administrator)
    second = relabelling.change(wanted, actor=world.administrator)
    assert first is not None
    assert second is not None
    actions.set_version_labels(world.version.pk, ["board"], actor=None)

    assert relabelling.decide(first.pk, accept=True, actor=world.second) == "stale"
    assert relabelling.decide(second.pk, accept=False, actor=world.administrator) == "taken_back"
    with pytest.raises(ValidationProblem, match="decided already"):
        relabelling.decide(second.pk, accept=True, actor=world.second)
    assert _texts(world.ann) == set()


@pytest.mark.parametrize(
    ("labels", "is_wider"),
    [
        (("hr", "all-staff"), True),
        (("hr",), False),
        (("hr", "legal"), False),
        (("board",), True),  # perhaps fewer people, but others
    ],
)
def test_what_counts_as_wider_does_not_depend_on_who_holds_labels(
    world, settings, labels, is_wider
):
    settings.APPROVAL = "four-eyes"
    factories.label("legal", role="restriction")
    LabelGrant.objects.create(label=factories.label("legal"), user=world.hana)
    actions.set_version_labels(world.version.pk, ["hr"], actor=None)

    waiting = relabelling.change(
        relabelling.Wanted(world.version.pk, labels), actor=world.administrator
    )

    assert (waiting is not None) == is_wider


def test_under_four_eyes_whoever_set_the_labels_does_not_approve(world, settings):
    settings.APPROVAL = "four-eyes"
    waiting = factories.parsed(policy_slug="new", title="New", department="HR")
    relabelling.change(relabelling.Wanted(waiting.pk, ("hr",)), actor=world.administrator)

    with pytest.raises(ValidationProblem, match="you set the labels"):
        actions.approve_version(waiting.pk, reviewer=world.administrator)
    actions.approve_version(waiting.pk, reviewer=world.second)


def test_a_person_page_names_each_label_with_its_source_and_each_policy_with_its_reason(world):
    annex = _section(world.version, "Annex A")
    actions.set_section_labels(annex.pk, ["board"], actor=None)
    factories.published(title="Secret", policy_slug="pay", labels=("hr",), department="HR")
    factories.published(title=CANARY, policy_slug="x", department="Finance")
    client = client_of(world.auditor)

    bea = client.get("/admin/documents/labelgrant/person/", {"user": "bea"})
    ann = client.get("/admin/documents/labelgrant/person/", {"user": "ann"})

    assert dict(bea.context["holder"].sources) == {
        "all-staff": ("everyone signed in has it",),
        "board": ("by the group board members",),
    }
    reach = {one.title: one for one in ann.context["policies"]}
    assert set(reach) == {"Travel", "Secret"}
    assert (reach["Travel"].readable, reach["Travel"].total) == (2, 3)
    assert reach["Travel"].reasons == ("lacks the audience board",)
    assert reach["Secret"].reasons == ("lacks the audience hr",)
    assert CANARY not in ann.content.decode()
    missing = client.get("/admin/documents/labelgrant/person/", {"user": "nobody"})
    assert "There is nobody with this name" in missing.content.decode()


def test_a_readers_page_says_who_reads_by_what_and_why_a_person_does_not(world):
    annex = _section(world.version, "Annex A")
    actions.set_section_labels(annex.pk, ["board"], actor=None)
    address = f"{BASE}{world.version.pk}/readers/"
    client = client_of(world.administrator)

    page = client.get(address, {"section": str(annex.pk), "user": "ann"})

    assert [(h.username, how) for h, how in page.context["readers"]] == [
        ("bea", "board: by the group board members")
    ]
    assert page.context["person"][1:] == (False, "lacks the audience board")
    world.bea.is_active = False
    world.bea.save()
    page = client.get(address, {"section": str(annex.pk), "user": "bea"})
    assert page.context["reader_count"] == 0
    assert page.context["person"][1:] == (False, "the account is disabled")
    assert client.get(address, {"section": 987654}).status_code == 404


def test_the_reasons_agree_with_what_the_database_returns(world):
    """For every person and section: no lack if and only if a reading returns its passages."""
    factories.label("legal", role="restriction")
    LabelGrant.objects.create(label=AccessLabel.objects.get(slug="legal"), user=world.hana)
    for number, slugs in {"1": ["hr", "board"], "2": ["legal"], "Annex A": ["hr", "legal"]}.items():
        section = _section(world.version, number)
        actions.set_section_labels(section.pk, slugs, actor=None)
    with access.editing():
        expected = readership.sections_with_text(world.version)
        people = readership.holders()
    seen = set()
    for holder in people:
        with access.reading_as(Reader.for_user(User.objects.get(pk=holder.user_id))):
            read = set(Chunk.objects.values_list("section_id", flat=True))
        told = {pk for pk, labels in expected.items() if not readership.lack_of(holder, labels)}
        assert told == read, holder
        seen.add(frozenset(read))
    assert len(seen) > 2
