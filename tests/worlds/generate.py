"""A random world from a seed: every state, date and label rule that a corpus can come to."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.worlds import shapes
from tests.worlds.shapes import Chunk, Key, Label, Person, Policy, Section, Version, Who, World

DAYS = (-400, -60, -2, -1, 0, 1, 3, 40)
DEPARTMENTS = ("People", "Finance")
_UNPUBLISHED = ("withdrawn", "awaiting_approval", "indexing", "held", "failed", "rejected")
_STAFF = ("policy owner", "reviewer", "auditor", "administrator")


def world(seed: int, *, policies: int = 5, people: int = 5) -> World:
    """The world of a seed: always the same for the same numbers."""
    random = Random(seed)  # noqa: S311 - worlds, not secrets
    names = shapes.words()
    made = World(seed)
    made.everyone = "all-staff" if random.random() < 0.85 else ""
    for slug in ("all-staff", "board", "hr", "works"):
        made.labels[slug] = Label(slug, is_audience=True, hosted=random.random() < 0.8)
    for slug in ("privileged", "sealed"):
        made.labels[slug] = Label(slug, is_audience=False, hosted=random.random() < 0.7)
    for group in ("world-a", "world-b", "world-c"):
        made.groups[group] = _some(random, made.labels, 2)
    for number in range(people):
        person = _person(random, f"person{number}", made)
        made.people[person.name] = person
    for number in range(2):
        owner = random.choice(list(made.people))
        labels = random.choice((None, frozenset(_some(random, made.labels, 3))))
        made.keys[f"key{number}"] = Key(f"key{number}", owner, labels)
    made.policies = [policy(random, names, made) for _ in range(policies)]
    return made


def readers(made: World, *, days: int, seed: int = 0) -> list[Who]:
    """Every person and every key of a world, today and on some other days."""
    random = Random(made.seed * 31 + seed)  # noqa: S311 - worlds, not secrets
    whos = [Who(name) for name in made.people]
    whos += [Who(key.owner, key.name) for key in made.keys.values()]
    others = [Who(who.person, who.key, day) for who in whos for day in DAYS if day != 0]
    return whos + random.sample(others, min(days, len(others)))


def _some(random: Random, among: dict[str, Label], most: int) -> set[str]:
    return set(random.sample(sorted(among), random.randint(0, most)))


def _person(random: Random, name: str, made: World) -> Person:
    person = Person(name)
    person.groups = set(random.sample(sorted(made.groups), random.choice((0, 1, 1, 2))))
    person.labels = _some(random, made.labels, 3)
    person.is_active = random.random() < 0.9
    person.reads_ahead = random.random() < 0.3
    return person


def staff(made: World, seed: int = 0) -> None:
    """Add people who look after some of the departments, one of each group, and a superuser."""
    random = Random(made.seed * 37 + seed)  # noqa: S311 - worlds, not secrets
    for number, group in enumerate(_STAFF):
        departments = random.sample(DEPARTMENTS, random.choice((0, 1, 1, 1, 2)))
        person = Person(f"staff{number}", departments=set(departments), staff_group=group)
        made.people[person.name] = person
    made.people["root"] = Person("root", is_superuser=True)


def policy(random: Random, names: Iterator[str], made: World) -> Policy:
    slug, title, contact, category = (next(names) for _ in range(4))
    """A policy with its versions, of words that `names` gives."""
    drawn = Policy(
        slug=f"policy-{slug}",
        title=f"Rules {title}",
        contact=f"Office {contact}",
        category=f"Kind {category}",
        department=random.choice(DEPARTMENTS),
    )
    number = 0
    for first, last in _ranges(random):
        number += 1
        drawn.versions.append(_version(random, names, made, number, "published", first, last))
    for _ in range(random.choice((0, 0, 1, 2))):
        number += 1
        state, first = random.choice(_UNPUBLISHED), random.choice(DAYS)
        drawn.versions.append(_version(random, names, made, number, state, first, None))
    return drawn


def _ranges(random: Random) -> list[tuple[int, int | None]]:
    """Ranges in force that do not overlap: past, now, to come, with and without gaps."""
    cuts = sorted({random.choice(DAYS[:2]), *random.sample(DAYS, random.choice((0, 0, 1, 2)))})
    ranges: list[tuple[int, int | None]] = []
    for first, end in zip(cuts, [*cuts[1:], None], strict=True):
        has_gap = random.random() < 0.2
        if end is None:
            ranges.append((first, random.choice((None,) * 5 + (first, first + 1))))
        elif has_gap and end - first > 1:
            ranges.append((first, end - 2))
        else:
            ranges.append((first, end - 1))
    return ranges


def _version(
    random: Random,
    names: Iterator[str],
    made: World,
    number: int,
    state: str,
    first: int,
    last: int | None,
) -> Version:
    audiences = [label.slug for label in made.labels.values() if label.is_audience]
    labels = {random.choice(["all-staff", *audiences])}
    if random.random() < 0.3:
        labels |= _some(random, made.labels, 2)
    if random.random() < 0.04:
        labels = {slug for slug in labels if not made.labels[slug].is_audience}
    version = Version(number, state, first, last, labels, next(names))
    version.has_pages = random.random() < 0.4
    version.loose = random.choice(("",) * 8 + ("released", "pending"))
    version.hides_text = random.random() < 0.1
    for place in range(random.randint(1, 4)):
        version.sections.append(_section(random, names, made, _parent(random, version, place)))
    if not version.chunks:
        version.sections[0].chunks.append(Chunk(next(names)))
    for section in version.sections:
        if random.random() < 0.3:
            section.refers_to = random.randrange(len(version.sections))
    if version.has_pages:
        _number_pages(random, version)
    return version


def _parent(random: Random, version: Version, place: int) -> int | None:
    """The section before or one above it, as headings nest; often none."""
    above: list[int | None] = []
    at: int | None = place - 1 if place else None
    while at is not None:
        above.append(at)
        at = version.sections[at].parent
    return random.choice([None, None, *above])


def _section(random: Random, names: Iterator[str], made: World, parent: int | None) -> Section:
    section = Section(next(names), parent)
    if random.random() < 0.3:
        section.labels = _some(random, made.labels, 2)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        state = random.choice(("ready",) * 9 + ("quarantined", "released", "rejected"))
        section.chunks.append(Chunk(next(names), state))
    return section


def _number_pages(random: Random, version: Version) -> None:
    page = 1
    for section in version.sections:
        page += random.random() < 0.5
        section.page = page
        for chunk in section.chunks:
            page += random.random() < 0.25
            chunk.page = page
