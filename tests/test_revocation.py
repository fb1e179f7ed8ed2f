"""T-007, T-020, T-023, T-027: what is taken from a person is gone by every door at once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.test import Client
from mcp import Client as McpClient

from documents import access, actions
from documents.models import Chunk, LabelGrant, Section
from documents.tests import factories
from evaluation.models import EvaluationRun
from evaluation.records import LabelledQuestion
from evaluation.runner import Plan, run_question_set
from qa import keys, originals
from qa.mcp.server import build_server
from tests.built_once import built_once

pytestmark = pytest.mark.django_db

CANARY = "61,000"
QUESTION = "At how many euros does Band D start?"
PAGES = [["# 7 Pay bands", "Band D starts at 61,000 euros."]]
PICTURE = b"\x89PNG of 61,000"


@dataclass
class World:
    hana: User
    team: Group
    client: Client
    headers: dict[str, str]
    section: uuid.UUID
    answer: str
    run: uuid.UUID
    version_id: int


@pytest.fixture(scope="module")
def built(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, Path]]:
    folder = tmp_path_factory.mktemp("files")
    with built_once(django_db_blocker, folder):
        yield _world(), folder


@pytest.fixture
def world(
    built: tuple[World, Path], monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> World:
    made, settings.FILES_DIR = built
    settings.PAGE_IMAGES_DIR = tmp_path / "images"
    monkeypatch.setattr(originals, "render_confined", lambda *_: PICTURE)
    return made


def _world() -> World:
    factories.published("# Canteen\n\n## 1 Lunch\n\nLunch is at noon.\n", policy_slug="canteen")
    made = factories.published_pdf(PAGES, policy_slug="pay", title="Pay", labels=("hr",))
    team = Group.objects.create(name="people-team")
    LabelGrant.objects.create(label=factories.label("hr"), group=team)
    hana = factories.user("hana")
    hana.groups.add(team)
    client = Client()
    client.force_login(hana)
    key = keys.create_key(hana, name="bot", scopes=["ask", "read"])
    headers = {"Authorization": f"Bearer {key}"}
    labelled = LabelledQuestion("band", QUESTION, answerable=True, labels=("hr",))
    run_question_set(Plan((labelled,), "pay-set", answerer="extractive"))
    answer = client.post("/api/v1/ask", {"question": QUESTION}, "application/json").json()
    assert answer["status"] == "answered"
    with access.editing():
        section = Section.objects.get(version=made, number="7").public_id
        run = EvaluationRun.objects.get().public_id
    return World(hana, team, client, headers, section, answer["id"], run, made.pk)


def _page(path: str) -> Callable[[World], Any]:
    return lambda world: world.client.get(_filled(path, world))


def _api(path: str) -> Callable[[World], Any]:
    return lambda world: Client().get(_filled("/api/v1/" + path, world), headers=world.headers)


def _asked(path: str) -> Callable[[World], Any]:
    return lambda world: Client().post(
        "/api/v1/" + path, {"question": QUESTION}, "application/json", headers=world.headers
    )


def _filled(path: str, world: World) -> str:
    return path.format(section=world.section, answer=world.answer, run=world.run)


def _tool(name: str, **arguments: str) -> Callable[[World], Any]:
    async def call(world: World) -> str:
        async with McpClient(build_server("hana")) as client:
            given = {key: _filled(text, world) for key, text in arguments.items()}
            return str(await client.call_tool(name, given))

    return lambda world: async_to_sync(call)(world)


DOORS: dict[str, Callable[[World], Any]] = {
    "ask, page": lambda world: world.client.post("/", {"question": QUESTION}),
    "ask, API": _asked("ask"),
    "ask, stream": _asked("ask/stream"),
    "search": _asked("search"),
    "policies": _page("/policies/"),
    "policy": _page("/policies/pay/"),
    "policy's history": _page("/policies/pay/history/"),
    "section": _page("/sections/{section}/"),
    "printed page": _page("/policies/pay/versions/1/pages/1/"),
    "image": _page("/policies/pay/versions/1/pages/1.png"),
    "file": _page("/policies/pay/versions/1/file"),
    "own question": _page("/history/{answer}/"),
    "evaluation runs": _page("/evaluation/"),
    "evaluation run": _page("/evaluation/{run}/"),
    "policies, API": _api("policies"),
    "versions, API": _api("policies/pay/versions"),
    "section, API": _api("sections/{section}"),
    "image, API": _api("sections/{section}/pages/1/image"),
    "file, API": _api("policies/pay/versions/1/file"),
    "stored answer, API": _api("answers/{answer}"),
    "search, MCP": _tool("search_policies", question=QUESTION),
    "section, MCP": _tool("get_section", section_id="{section}"),
    "ask, MCP": _tool("ask_policy", question=QUESTION),
}
SIGNS = (CANARY, "%PDF", "pay-set", '"pay"', "/policies/pay/", ">Pay<", "Version 1")


def _got(reply: Any) -> str:
    if isinstance(reply, str):
        return reply
    if not reply.streaming:
        return str(reply.content.decode("utf-8", "replace"))
    if reply.is_async:

        async def read() -> bytes:
            return b"".join([piece async for piece in reply])

        return async_to_sync(read)().decode()
    return b"".join(reply.streaming_content).decode("utf-8", "replace")


def _shown(world: World, doors: Iterable[str] = DOORS) -> dict[str, bool]:
    """By which doors something of the policy is shown now."""
    found = {}
    for name, door in ((name, DOORS[name]) for name in doors):
        text = _got(door(world)).replace(json.dumps(QUESTION), "").replace("\\", "")
        found[name] = any(sign in text for sign in SIGNS)
    return found


def _regroup(world: World) -> None:
    world.hana.groups.add(world.team)


def _leave_group(world: World) -> None:
    world.hana.groups.remove(world.team)


def _revoke(world: World) -> None:
    actions.revoke_label(LabelGrant.objects.get(group=world.team), actor=None)


def _grant(world: World) -> None:
    actions.grant_label("hr", actor=None, group=world.team)


def _relabel(*slugs: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        for slug in slugs:
            factories.label(slug)
        actions.set_version_labels(world.version_id, slugs, actor=None)

    return change


def _hold(world: World) -> None:
    with access.editing():
        ids = Chunk.objects.filter(version=world.version_id).values_list("pk", flat=True)
        Chunk.objects.filter(pk__in=list(ids)).update(state="quarantined", effective_from=None)


def _release(world: World) -> None:
    with access.editing():
        ids = list(Chunk.objects.filter(version=world.version_id).values_list("pk", flat=True))
    for pk in ids:
        actions.decide_chunk(pk, release=True, reviewer=None, note="fine")


def _disable(world: World) -> None:
    User.objects.filter(pk=world.hana.pk).update(is_active=False)


def _enable(world: World) -> None:
    User.objects.filter(pk=world.hana.pk).update(is_active=True)
    world.client.force_login(User.objects.get(pk=world.hana.pk))


def _withdraw(world: World) -> None:
    actions.withdraw_version(world.version_id, actor=None, note="published in error")


LOSSES: list[tuple[str, Callable[[World], None], Callable[[World], None] | None]] = [
    ("left the group", _leave_group, _regroup),
    ("the grant was revoked", _revoke, _grant),
    ("the label was changed", _relabel("board"), _relabel("hr")),
    ("a passage was held", _hold, _release),
    ("the account was disabled", _disable, _enable),
    ("the version was withdrawn", _withdraw, None),
]


def test_every_door_shows_it_before_and_none_after_whatever_was_lost(world: World) -> None:
    before = _shown(world)
    assert [name for name, is_shown in before.items() if not is_shown] == []

    for why, lose, restore in LOSSES:
        lose(world)
        after = _shown(world)
        assert [name for name, is_shown in after.items() if is_shown] == [], why
        if restore is not None:
            restore(world)
            assert _shown(world, ["section", "stored answer, API"]) == {
                "section": True,
                "stored answer, API": True,
            }, why


def test_a_key_reads_no_more_than_its_labels_and_nothing_once_it_is_revoked(world: World) -> None:
    narrow = keys.create_key(world.hana, name="narrow", scopes=["read"], labels=["all-staff"])

    def sections(key: str) -> int:
        path = f"/api/v1/sections/{world.section}"
        return int(Client().get(path, headers={"Authorization": f"Bearer {key}"}).status_code)

    whole = world.headers["Authorization"].removeprefix("Bearer ")
    assert (sections(whole), sections(narrow)) == (200, 404)
    keys.revoke_key(keys.find_key(whole), actor=None)  # type: ignore[arg-type]  # it was just made
    assert sections(whole) == 401


def test_pictures_and_files_are_kept_by_no_cache(world: World) -> None:
    for name in ("printed page", "image", "file", "image, API", "file, API", "section"):
        control = DOORS[name](world).headers["Cache-Control"]
        assert {"private", "no-store"} <= set(control.replace(" ", "").split(",")), name
