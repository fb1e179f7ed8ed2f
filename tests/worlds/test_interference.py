"""Non-interference: what a reader may not read changes no byte of what they get."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from tests.worlds import build, generate, interference
from tests.worlds.shapes import Who
from tests.worlds.visit import Told, Visit, rolled_back, surroundings

pytestmark = pytest.mark.django_db

WORLDS, ROUNDS, CHANGES = 2, 1, 10


@pytest.fixture(autouse=True)
def _surrounded(settings) -> Iterator[None]:
    settings.PAGE_IMAGES_DIR = settings.FILES_DIR / "images"
    with surroundings():
        yield


def test_hidden_documents_change_no_byte_of_any_response():
    compared, told = 0, []
    for seed in range(2_000, 2_000 + WORLDS):
        world, random = generate.world(seed), Random(seed)  # noqa: S311 - worlds, not secrets
        with rolled_back(), override_settings(EVERYONE_LABEL=world.everyone):
            made = build.build(world)
            readers = [Who("person0"), Who(world.keys["key0"].owner, "key0")]
            for _ in range(ROUNDS):
                visits = [Visit(world, made, who) for who in readers]
                before = [interference.responses(visit) for visit in visits]
                done = [interference.hide_more(random, world, made, visits) for _ in range(CHANGES)]
                after = [interference.responses(Visit(world, made, who)) for who in readers]
                told += [change for change in done if change]
                compared += sum(map(len, after))
                assert after == before, (seed, done)
    assert len(told) >= WORLDS * ROUNDS * CHANGES // 2
    assert any("added" in change for change in told)
    assert compared >= 40


def test_a_visible_change_is_seen_by_the_same_comparison():
    world = generate.world(3)
    with rolled_back(), override_settings(EVERYONE_LABEL=world.everyone):
        made = build.build(world)
        who = next(w for w in generate.readers(world, days=0) if Visit(world, made, w).sights)
        visit = Visit(world, made, who)
        before, outline = interference.responses(visit), interference.outline(visit)
        visit.sights[0].version.state = "withdrawn"
        key = visit.sights[0].policy.slug, visit.sights[0].version.number
        _withdraw(made.versions[key])
        after = Visit(world, made, who)

        assert interference.outline(after) != outline
        assert interference.responses(after) != before


def _withdraw(version_id: int) -> None:
    from documents import actions

    actions.withdraw_version(version_id, actor=None, note="error")


def test_forbidden_and_missing_take_the_same_statements_and_say_the_same():
    seen = 0
    for seed in (4, 5):
        world = generate.world(seed)
        with rolled_back(), override_settings(EVERYONE_LABEL=world.everyone):
            made = build.build(world)
            for name, person in world.people.items():
                visit = Visit(world, made, Who(name))
                if not person.is_active or seen > 60:
                    continue
                visit.get("/policies/")  # signs in
                for door, forbidden, missing in interference.pairs(visit):
                    one, of_one = _counted(visit, forbidden)
                    other, of_other = _counted(visit, missing)
                    seen += 1
                    assert of_one == of_other, (door, name)
                    names = (forbidden, missing, forbidden.split("/")[2], missing.split("/")[2])
                    hidden = [part for part in names if len(part) > 8]
                    assert one.masked(*hidden) == other.masked(*hidden), (door, name)
    assert seen >= 20


def _counted(visit: Visit, address: str) -> tuple[Told, list[str]]:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        told = visit.get(address)
    return told, [_shape(query["sql"]) for query in queries]


def _shape(sql: str) -> str:
    """The beginning of a statement, without its values and the names of savepoints."""
    return re.sub(r'"s\d+_x\d+"', "", sql.split("(")[0])[:60]
