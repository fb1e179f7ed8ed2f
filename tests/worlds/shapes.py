"""What a world is: plain values, days counted from today, no database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

WORD = re.compile(r"zq[bcdfghjklmnprstvwxy]{4}qz")
_LETTERS = "bcdfghjklmnprstvwxy"


def words(start: int = 0) -> Iterator[str]:
    """Words that stand nowhere else, each once."""
    number = start
    while True:
        rest, letters = number, ""
        for _ in range(4):
            rest, digit = divmod(rest, len(_LETTERS))
            letters += _LETTERS[digit]
        yield f"zq{letters}qz"
        number += 1


def words_in(text: str) -> frozenset[str]:
    """The words of a world that a response tells, wherever they stand in it."""
    return frozenset(WORD.findall(text.lower()))


@dataclass
class Label:
    slug: str
    is_audience: bool
    hosted: bool = True


@dataclass
class Person:
    name: str
    groups: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)  # granted to the person
    is_active: bool = True
    reads_ahead: bool = False
    departments: set[str] = field(default_factory=set)  # managed; with a staff group
    staff_group: str = ""
    is_superuser: bool = False

    @property
    def is_staff(self) -> bool:
        return bool(self.staff_group) or self.is_superuser


@dataclass
class Key:
    name: str
    owner: str
    labels: frozenset[str] | None  # None: all of the owner's
    is_revoked: bool = False


@dataclass
class Chunk:
    word: str
    state: str = "ready"
    page: int = 0  # 0: the file has no pages


@dataclass
class Section:
    word: str  # in its heading
    parent: int | None = None  # its place in the version
    labels: set[str] = field(default_factory=set)  # own
    chunks: list[Chunk] = field(default_factory=list)
    page: int = 0  # of the heading
    refers_to: int | None = None  # a section that its last chunk names


@dataclass
class Version:
    number: int
    state: str
    first: int  # the first day in force, from today
    last: int | None
    labels: set[str]
    file_word: str
    sections: list[Section] = field(default_factory=list)
    has_pages: bool = False
    loose: str = ""  # the decision on a finding outside any passage
    hides_text: bool = False  # the file holds what nobody looked at

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for section in self.sections for chunk in section.chunks]


@dataclass
class Policy:
    slug: str
    title: str
    contact: str
    category: str
    department: str
    versions: list[Version] = field(default_factory=list)

    @property
    def words(self) -> frozenset[str]:
        return words_in(f"{self.slug} {self.title} {self.contact} {self.category}")


@dataclass
class World:
    seed: int
    labels: dict[str, Label] = field(default_factory=dict)
    groups: dict[str, set[str]] = field(default_factory=dict)  # granted labels by group
    people: dict[str, Person] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)
    policies: list[Policy] = field(default_factory=list)
    everyone: str = "all-staff"  # the label of everyone signed in

    @property
    def words(self) -> frozenset[str]:
        """Every word of the world."""
        found: set[str] = set()
        for policy in self.policies:
            found |= policy.words
            for version in policy.versions:
                found.add(version.file_word)
                found |= {section.word for section in version.sections}
                found |= {chunk.word for chunk in version.chunks}
        return frozenset(found)


@dataclass(frozen=True)
class Who:
    """A reader: a person signed in, or a program with one of their keys; on a day."""

    person: str
    key: str = ""
    day: int = 0

    def __str__(self) -> str:
        key = f" by key {self.key}" if self.key else ""
        return f"{self.person}{key} on day {self.day:+d}"
