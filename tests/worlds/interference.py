"""Whether what a reader may not read changes a byte of what they get.

`outline` says, by the model alone, all that a reader's responses may hang on. A change that
leaves it as it was is one of things hidden from them, and may change no byte.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from uuid import uuid4

from django.db import transaction

from documents import access, deletion
from tests.worlds import build, changes, generate, model, shapes
from tests.worlds.build import Built
from tests.worlds.doors import NO_SLUG, versions_of
from tests.worlds.model import Sight
from tests.worlds.shapes import Version, World
from tests.worlds.visit import QUESTION, Told, Visit

Outline = tuple[object, ...]


def outline(visit: Visit) -> Outline:
    """All of a world that this reader's responses may hang on."""
    policies = [(policy, versions_of(visit, policy)) for policy in visit.world.policies]
    return (
        visit.may_ask,
        visit.may_ask_for_day,
        sorted(model.held(visit.world, visit.who)),
        [_sight(visit, sight) for sight in visit.sights],
        [(p.slug, [_sight(visit, s) for s in seen.values()]) for p, seen in policies if seen],
        sorted(_counted(visit)),
    )


def _sight(visit: Visit, sight: Sight) -> Outline:
    last = sight.version.last
    is_known = last is not None and (last < 0 or visit.world.people[visit.who.person].reads_ahead)
    return (
        sight.policy.slug,
        sight.version.number,
        sight.version.first,
        last if is_known else None,
        {place: [chunk.word for chunk in chunks] for place, chunks in sight.chunks.items()},
        sight.has_file,
        sorted(page for page in model.pages_of(sight.version) if sight.has_page(page)),
        sorted(_waiting(visit, sight.version)),
    )


def _waiting(visit: Visit, version: Version) -> Iterator[str]:
    """Held passages under labels that the reader holds: pages say that something waits."""
    holder = model.held(visit.world, visit.who)
    for place, section in enumerate(version.sections):
        if model.admits(model.labels_at(visit.world, version, place), holder):
            yield from (chunk.word for chunk in section.chunks if chunk.state == "quarantined")


def _counted(visit: Visit) -> set[str]:
    """Passages whose words count in this reader's statistics: theirs on some day until today."""
    holder = model.held(visit.world, visit.who)
    return {
        chunk.word
        for policy in visit.world.policies
        for version in policy.versions
        if version.state == "published" and version.first <= 0
        for place, section in enumerate(version.sections)
        if model.admits(model.labels_at(visit.world, version, place), holder)
        for chunk in section.chunks
        if chunk.state in model.READABLE
    }


def responses(visit: Visit) -> dict[str, tuple[int, str]]:
    """What the doors give to a reader, whole."""
    told = {"API policies": visit.get("/api/v1/policies"), "me": visit.get("/api/v1/me")}
    asked = {"question": QUESTION, "n_results": 20}
    told["search"] = visit.post("/api/v1/search", asked)
    told["search for five"] = visit.post("/api/v1/search", {"question": "annual leave"})
    told["search nothing"] = visit.post("/api/v1/search", {"question": "What of zqzzzzqz?"})
    told["ask"] = visit.post("/api/v1/ask", asked)
    if visit.may_ask and visit.may_ask_for_day:
        told["stream"] = visit.stream()
    if not visit.who.key:
        told["policies"] = visit.get("/policies/")
        told["runs"] = visit.get("/evaluation/", with_day=False)
    for policy in visit.world.policies:
        told |= _of_policy(visit, policy)
    return {name: one.whole for name, one in told.items()}


def _of_policy(visit: Visit, policy: shapes.Policy) -> dict[str, Told]:
    """Pages of what is seen; of one policy in three also the API's."""
    sight = visit.sight_of(policy.slug)
    if sight is None:
        return {}
    place = next(iter(sight.chunks))
    section = visit.made.sections[sight.version.sections[place].word][1]
    number = sight.version.number
    told = {
        f"section of {policy.slug}": visit.get(f"/api/v1/sections/{section}"),
        f"history of {policy.slug}": visit.get(
            f"/api/v1/policies/{policy.slug}/versions", with_day=False
        ),
        f"file of {policy.slug}": visit.get(
            f"/api/v1/policies/{policy.slug}/versions/{number}/file"
        ),
    }
    if not visit.who.key:
        told[f"page of {policy.slug}"] = visit.get(f"/policies/{policy.slug}/")
        told[f"page of a section of {policy.slug}"] = visit.get(f"/sections/{section}/")
    return told


def pairs(visit: Visit) -> Iterator[tuple[str, str, str]]:
    """Addresses of things that are forbidden, each with one of a thing that is not there."""
    for policy in visit.world.policies:
        if visit.sight_of(policy.slug) is not None or versions_of(visit, policy):
            continue
        section = visit.made.sections[policy.versions[0].sections[0].word][1]
        for name, address in (
            ("policy", "/policies/{}/"),
            ("history", "/policies/{}/history/"),
            ("changes", "/policies/{}/changes/1/2/"),
            ("file", "/policies/{}/versions/1/file"),
            ("page image", "/policies/{}/versions/1/pages/1.png"),
            ("API history", "/api/v1/policies/{}/versions"),
            ("API file", "/api/v1/policies/{}/versions/1/file"),
        ):
            yield name, address.format(policy.slug), address.format(NO_SLUG)
        for name, address in (("section", "/sections/{}/"), ("API section", "/api/v1/sections/{}")):
            yield name, address.format(section), address.format(uuid4())


def hide_more(random: Random, world: World, made: Built, visits: list[Visit]) -> str:
    """One change of what none of these readers may know of; empty where none was found."""
    before = [outline(visit) for visit in visits]
    for _ in range(20):
        kept, users, kept_keys = copy.deepcopy(_parts(world)), dict(made.users), dict(made.policies)
        with _undoable() as undo:
            told = random.choice((changes.change, changes.change, _add, _remove))(
                random, world, made
            )
            if told and [outline(Visit(world, made, visit.who)) for visit in visits] == before:
                return told
            undo()
        _restore(world, kept)
        made.users, made.policies = users, kept_keys
    return ""


def _parts(world: World) -> dict[str, object]:
    return {
        name: getattr(world, name) for name in ("labels", "groups", "people", "keys", "policies")
    }


def _restore(world: World, parts: dict[str, object]) -> None:
    for name, value in parts.items():
        setattr(world, name, value)


@contextmanager
def _undoable() -> Iterator[Callable[[], None]]:
    inner = transaction.atomic()
    inner._from_testcase = True  # type: ignore[attr-defined]  # as TestCase: durable blocks may open
    with inner:
        yield lambda: transaction.set_rollback(True)


def _add(random: Random, world: World, made: Built) -> str:
    """Some policies more."""
    names = shapes.words(30_000 + 500 * len(made.policies) + random.randrange(50_000))
    added = [generate.policy(random, names, world) for _ in range(random.randint(1, 3))]
    if random.random() < 0.8:  # under both restrictions, which few hold
        for version in (version for one in added for version in one.versions):
            version.labels |= {
                slug for slug, label in world.labels.items() if not label.is_audience
            }
    with access.editing():
        build.add_policies(world, made, added)
    world.policies.extend(added)
    return f"added {[policy.slug for policy in added]}"


def _remove(random: Random, world: World, made: Built) -> str:
    """A policy is deleted with all that hangs on it."""
    if len(world.policies) < 3:
        return ""
    policy = world.policies.pop(random.randrange(len(world.policies)))
    deletion.delete_policy(made.policies[policy.slug], typed=policy.title, actor=None, note="gone")
    return f"deleted {policy.slug}"
