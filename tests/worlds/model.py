"""Who may read what, told once more from DESIGN §3 and §5: no database, no line of the product.

Kept to a page, so that a person can check it against the design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.worlds.shapes import Chunk, Label, Policy, Version, Who, World

READABLE = ("ready", "released")


def may_ask(world: World, who: Who) -> bool:
    """Whether the request is let in at all: an active account, a key that stands."""
    key = world.keys.get(who.key)
    return world.people[who.person].is_active and not (key and key.is_revoked)


def may_ask_for_day(world: World, who: Who) -> bool:
    """The future is for those who may read ahead."""
    person = world.people[who.person]
    return who.day <= 0 or (person.reads_ahead and person.is_active)


def held(world: World, who: Who) -> set[str]:
    """The labels of a reader: own, by group, everyone's; a key carries a part of them."""
    person = world.people[who.person]
    if not may_ask(world, who):
        return set()
    labels = person.labels.union(*(world.groups[group] for group in person.groups))
    if world.everyone:
        labels.add(world.everyone)
    key = world.keys.get(who.key)
    return labels if key is None or key.labels is None else labels & key.labels


def labels_at(world: World, version: Version, place: int) -> list[Label]:
    """The labels of a section: own audiences replace those above it, restrictions add up."""
    section = version.sections[place]
    if section.parent is None:
        above = [world.labels[slug] for slug in version.labels]
    else:
        above = labels_at(world, version, section.parent)
    own = [world.labels[slug] for slug in section.labels]
    audiences = [x for x in own if x.is_audience] or [x for x in above if x.is_audience]
    return audiences + [x for x in own + above if not x.is_audience]


def admits(labels: list[Label], holder: set[str]) -> bool:
    """At least one audience and every restriction."""
    has_audience = any(x.slug in holder for x in labels if x.is_audience)
    return has_audience and all(x.slug in holder for x in labels if not x.is_audience)


@dataclass(frozen=True)
class Sight:
    """What a reader sees of the version of a policy that is in force on their day."""

    policy: Policy
    version: Version
    chunks: dict[int, list[Chunk]]  # readable ones, by the place of their section
    hosted: bool  # all of them may go to a hosted model

    @property
    def shown(self) -> set[int]:
        """Sections whose headings are read: with something readable in or below them."""
        found: set[int] = set()
        for place in self.chunks:
            found |= set(self.path(place))
        return found

    def path(self, place: int) -> Iterator[int]:
        at: int | None = place
        while at is not None:
            yield at
            at = self.version.sections[at].parent

    def words_of(self, place: int) -> set[str]:
        """The words of a section: its readable chunks under the headings above them."""
        headings = {self.version.sections[at].word for at in self.path(place)}
        return headings | {chunk.word for chunk in self.chunks[place]}

    @property
    def words(self) -> set[str]:
        return set().union(*(self.words_of(place) for place in self.chunks))

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the version is kept from the reader, nor waits for a decision."""
        seen = [chunk.word for chunks in self.chunks.values() for chunk in chunks]
        labelled = {i for i, section in enumerate(self.version.sections) if section.labels}
        is_decided = self.version.loose in ("", "released")
        return len(seen) == len(self.version.chunks) and is_decided and labelled <= self.shown

    @property
    def has_file(self) -> bool:
        """The file goes out only whole, and only if it holds nothing that nobody saw."""
        return self.is_whole and not self.version.hides_text

    def has_page(self, page: int) -> bool:
        """A page is seen when all of the version is, or each word on it is read elsewhere."""
        if not self.version.has_pages or page not in pages_of(self.version):
            return False
        readable = {chunk.word for chunks in self.chunks.values() for chunk in chunks}
        chunks = [chunk for chunk in self.version.chunks if chunk.page == page]
        headings = [i for i, section in enumerate(self.version.sections) if section.page == page]
        is_read = all(chunk.word in readable for chunk in chunks) and set(headings) <= self.shown
        return self.is_whole or (is_read and self.version.loose in ("", "released"))


def pages_of(version: Version) -> set[int]:
    """The numbers of the pages of a file."""
    return ({x.page for x in version.sections} | {x.page for x in version.chunks}) - {0}


def sights(world: World, who: Who) -> list[Sight]:
    """All that a reader may read on their day, policy by policy."""
    if not may_ask_for_day(world, who):
        return []
    holder = held(world, who)
    return [
        sight
        for policy in world.policies
        for version in policy.versions
        if (sight := _sight(world, policy, version, holder, who.day)) is not None
    ]


def _sight(
    world: World, policy: Policy, version: Version, holder: set[str], day: int
) -> Sight | None:
    last = version.last
    if version.state != "published" or day < version.first or (last is not None and day > last):
        return None
    chunks, hosted = {}, True
    for place, section in enumerate(version.sections):
        labels = labels_at(world, version, place)
        readable = [chunk for chunk in section.chunks if chunk.state in READABLE]
        if readable and admits(labels, holder):
            chunks[place] = readable
            hosted = hosted and all(label.hosted for label in labels)
    return Sight(policy, version, chunks, hosted) if chunks else None
