"""Typed registries that the apps above fill in `AppConfig.ready`: the only upward path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Touched:
    """What publishing a version would change in the one before: the sections reworded or gone.

    `sections` and `chunks` are public ids of the older version. `words_after` are all sections
    of the newer text, so that whoever looks for a quote can tell whether it still stands.
    """

    version_id: int
    policy_slug: str
    policy_title: str
    older_number: int
    sections: frozenset[str]
    chunks: frozenset[str]
    words_before: tuple[str, ...]
    words_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImpactItem:
    """One thing that is touched, for those who may see it."""

    label: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Impact:
    """A sentence on what is touched, with the things themselves where the person may see them."""

    sentence: str
    items: tuple[ImpactItem, ...] = ()


# Called with the id of a version about to be published; a returned sentence forbids it.
before_publish: list[Callable[[int], str | None]] = []

# Called by `verify_audit`; yields an event's id and a sentence for each row that is not what the
# event says of it.
audit_checks: list[Callable[[], Iterator[tuple[int, str]]]] = []

# Called inside `editing`, with what a version would change and the person who wants to know.
impact_of: list[Callable[[Touched, User], Impact | None]] = []
