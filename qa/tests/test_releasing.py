"""T-021: a right that is lost while an answer is made is lost for that answer too."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client

from documents import access, actions
from documents.access import Reader
from documents.models import AuditEvent, Chunk, LabelGrant
from documents.tests import factories
from qa import answer_log, keys, pipeline, releasing
from qa.api import sse
from qa.models import ApiKey, OutcomeRecord
from qa.pipeline import Asked
from qa.records import ClaimVerified, Event, Finished, SourcesFound
from qa.tests.fake_claude import FakeClaude, claim
from qa.tests.fake_claude.models import answered, documents_in

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "Band D"
PAY = (
    f"# Pay bands\n\n## 7 Pay bands\n\n{CANARY} starts at 61,000 euros. "
    f"{CANARY} ends at 72,000 euros.\n"
)
OPEN = "# Canteen\n\n## 1 Lunch\n\nBand practice takes place in the canteen at noon.\n"
QUESTION = "At how many euros does Band D start and end?"
SENTENCES = (f"{CANARY} starts at 61,000 euros.", f"{CANARY} ends at 72,000 euros.")


class World:
    """Hana reads the pay bands by a group and by a key."""

    def __init__(self) -> None:
        self.pay = factories.published(PAY, policy_slug="pay", title="Pay bands", labels=("hr",))
        factories.published(OPEN, policy_slug="canteen", title="Canteen")
        self.team = Group.objects.create(name="people-team")
        LabelGrant.objects.create(label=factories.label("hr"), group=self.team)
        self.hana: User = factories.user("hana")
        self.hana.groups.add(self.team)
        self.key = keys.create_key(self.hana, name="bot", scopes=["ask"])

    def asked(self) -> Asked:
        key = ApiKey.objects.get()
        return Asked(Reader.for_user(self.hana), QUESTION, key_id=key.pk)


def _take_from_group(world: World) -> None:
    world.hana.groups.remove(world.team)


def _revoke_grant(world: World) -> None:
    actions.revoke_label(LabelGrant.objects.get(group=world.team), actor=None)


def _relabel(world: World) -> None:
    factories.label("board")
    actions.set_version_labels(world.pay.pk, ["board"], actor=None)


def _disable(world: World) -> None:
    User.objects.filter(pk=world.hana.pk).update(is_active=False)


def _withdraw(world: World) -> None:
    actions.withdraw_version(world.pay.pk, actor=None, note="published in error")


def _reject_passage(world: World) -> None:
    with access.editing():
        Chunk.objects.filter(version=world.pay).update(state="quarantined", effective_from=None)


def _revoke_key(world: World) -> None:
    keys.revoke_key(ApiKey.objects.get(), actor=None)


LOSSES = [
    _take_from_group,
    _revoke_grant,
    _relabel,
    _disable,
    _withdraw,
    _reject_passage,
    _revoke_key,
]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def model(settings: Any) -> Iterator[FakeClaude]:
    with FakeClaude() as server:
        settings.ANTHROPIC_API_KEY = "test-key"
        settings.ANTHROPIC_BASE_URL = server.base_url
        yield server


def _both_sentences(body: dict[str, Any]) -> dict[str, Any]:
    pay = next(one for one in documents_in(body) if CANARY in one.text)
    return answered(*(claim(text, (pay.id, text)) for text in SENTENCES))


def _in_another_connection(lose: Callable[[World], None], world: World) -> None:
    """As another request would: committed, on a connection of its own."""

    def run() -> None:
        try:
            lose(world)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


async def _events(asked: Asked) -> AsyncIterator[Event]:
    async with aclosing(pipeline.answer_question(asked)) as events:
        async for event in events:
            yield event


def _texts(events: list[Event]) -> str:
    """All that these events give a reader."""
    shown: list[Any] = []
    return json.dumps([sse._named(event, shown) for event in events], ensure_ascii=False)


@sync_to_async
def _record() -> tuple[str, int]:
    with access.editing():
        events = AuditEvent.objects.filter(action="answer_withheld")
        assert [(event.after or {})["reason"] for event in events] == ["rights_changed"]
        return OutcomeRecord.objects.get().status, len(events)


async def test_with_every_right_kept_both_sentences_are_shown(
    world: World, model: FakeClaude
) -> None:
    model.reply_by(_both_sentences)

    events = [event async for event in _events(await sync_to_async(world.asked)())]

    assert [e.claim.text for e in events if isinstance(e, ClaimVerified)] == list(SENTENCES)
    assert isinstance(events[-1], Finished)
    assert events[-1].outcome.status == "answered"


@pytest.mark.parametrize("lose", LOSSES)
async def test_a_right_lost_while_the_model_waits_withholds_the_answer(
    world: World, model: FakeClaude, lose: Callable[[World], None]
) -> None:
    """The model has its prompt and waits; the right goes; then the model answers."""

    def waiting(body: dict[str, Any]) -> dict[str, Any]:
        _in_another_connection(lose, world)
        return _both_sentences(body)

    model.reply_by(waiting)
    asked = await sync_to_async(world.asked)()
    events = [event async for event in _events(asked)]

    at = next(i for i, event in enumerate(events) if isinstance(event, SourcesFound))
    assert CANARY in _texts(events[: at + 1])  # it had been readable
    assert CANARY not in _texts(events[at + 1 :]).replace(QUESTION, "")
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.outcome.status, last.outcome.sources) == ("refused", ())
    assert last.outcome.notices[0] == releasing.WITHHELD_NOTICE
    assert await _record() == ("refused", 1)


async def test_a_right_lost_after_the_first_sentence_takes_all_back(
    world: World, model: FakeClaude
) -> None:
    model.reply_by(_both_sentences)
    seen: list[Event] = []
    async for event in _events(await sync_to_async(world.asked)()):
        seen.append(event)
        if isinstance(event, ClaimVerified):
            await sync_to_async(_in_another_connection)(_relabel, world)

    assert sum(isinstance(event, ClaimVerified) for event in seen) == 1
    last = seen[-1]
    assert isinstance(last, Finished)
    assert last.is_retracted
    assert CANARY not in _texts([last]).replace(QUESTION, "")
    assert await _record() == ("refused", 1)


async def test_a_right_lost_after_the_last_sentence_still_counts(
    world: World, model: FakeClaude
) -> None:
    model.reply_by(_both_sentences)
    seen: list[Event] = []
    async for event in _events(await sync_to_async(world.asked)()):
        seen.append(event)
        if isinstance(event, ClaimVerified) and event.n == 2:
            await sync_to_async(_in_another_connection)(_revoke_grant, world)

    last = seen[-1]
    assert isinstance(last, Finished)
    assert (last.is_retracted, last.outcome.claims, last.outcome.sources) == (True, (), ())
    stored = await sync_to_async(answer_log.stored_answer)(Reader.for_user(world.hana), _id(last))
    assert CANARY not in json.dumps(stored).replace(QUESTION, "")


async def test_what_was_lost_before_the_prompt_is_not_on_the_wire(
    world: World, model: FakeClaude
) -> None:
    model.reply_by(_both_sentences)
    seen: list[Event] = []
    async for event in _events(await sync_to_async(world.asked)()):
        seen.append(event)
        if isinstance(event, SourcesFound):
            await sync_to_async(_in_another_connection)(_take_from_group, world)

    assert model.bodies == []
    assert isinstance(seen[-1], Finished)
    assert seen[-1].outcome.status == "refused"


async def test_what_was_lost_during_the_search_is_not_even_a_source(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pipeline._open

    def then_lose(asked: Asked) -> Any:
        run = real(asked)
        _in_another_connection(_revoke_grant, world)
        return run

    monkeypatch.setattr(pipeline, "_open", then_lose)
    seen = [event async for event in _events(await sync_to_async(world.asked)())]

    assert not any(isinstance(event, SourcesFound) for event in seen)
    assert CANARY not in _texts(seen).replace(QUESTION, "")


def _id(last: Finished) -> UUID:
    return UUID(last.outcome.id)


def test_a_disabled_person_is_refused_on_the_next_request(world: World) -> None:
    client = Client()
    client.force_login(world.hana)
    headers = {"Authorization": f"Bearer {world.key}"}
    assert client.get("/api/v1/me").status_code == 200
    assert Client().get("/api/v1/me", headers=headers).status_code == 200

    _disable(world)

    assert client.get("/api/v1/me").status_code == 401
    assert Client().get("/api/v1/me", headers=headers).status_code == 401
