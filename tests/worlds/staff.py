"""Every address of the admin as a member of staff of some departments.

The addresses come from the URL resolver, so a page that is added to the admin is visited
without a word here. Whatever a page tells must belong to policies that the person manages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse
from django.urls.resolvers import RoutePattern

from tests.worlds.build import Built
from tests.worlds.shapes import Policy, Version, Who, World, words_in
from tests.worlds.tally import Tally
from tests.worlds.visit import Told

_LEFT_OUT = frozenset({"logout", "jsi18n", "password_change", "password_change_done"})
LISTS = ("policy", "policyversion", "chunk", "finding", "auditevent", "labelgrant")


def managed(world: World, name: str) -> list[Policy]:
    """The policies that a person looks after: all for a superuser, else by department."""
    person = world.people[name]
    if not (person.is_active and person.is_staff):
        return []
    return [p for p in world.policies if person.is_superuser or p.department in person.departments]


def words_of(policies: list[Policy]) -> frozenset[str]:
    """Every word of some policies, whatever its state."""
    return World(0, policies=policies).words


@dataclass
class Desk:
    """A member of staff at the admin."""

    world: World
    made: Built
    name: str

    def __post_init__(self) -> None:
        self.client = Client()
        self.client.force_login(User.objects.get(pk=self.made.users[self.name].pk))
        self.may = words_of(managed(self.world, self.name))
        self.who = Who(self.name)

    def get(self, address: str, **query: str) -> Told:
        response: Any = self.client.get(address, query)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        shown = " ".join(f"{name}: {value}" for name, value in response.headers.items())
        return Told(response.status_code, f"{shown}\n{body.decode('utf-8', 'replace')}")

    def look(self, tally: Tally, address: str, must: set[str] | None = None, **query: str) -> Told:
        """Get a page, and compare what it tells."""
        told = self.get(address, **query)
        typed = words_in(" ".join(query.values()))  # a search repeats what was typed
        door = f"admin {told.status}"
        assert told.status < 500, address
        tally.thing(door, self.who, f"{address} {query}", told, must or (), self.may | typed)
        return told


def lists(desk: Desk, tally: Tally) -> None:
    """Lists whole, ordered, filtered and searched for what is another's."""
    hidden = sorted(desk.world.words - desk.may)[::9]
    for name in LISTS:
        address = reverse(f"admin:documents_{name}_changelist")
        told = desk.look(tally, address, _listed(desk, name))
        if told.status != 200:
            continue
        desk.look(tally, address, all="", o="-1")
        for word in hidden[:2]:
            desk.look(tally, address, q=word)
        desk.look(tally, address, _facets="True")
        desk.look(tally, address, department=_other_department(desk))


def _listed(desk: Desk, name: str) -> set[str]:
    """What a list must hold: the titles of all that is managed, where the group may look."""
    policies = managed(desk.world, desk.name)
    if name not in ("policy", "policyversion"):
        return set()
    return {word for policy in policies for word in words_in(policy.title)}


def _other_department(desk: Desk) -> str:
    mine = {policy.department for policy in managed(desk.world, desk.name)}
    return next((p.department for p in desk.world.policies if p.department not in mine), "None")


def addresses(desk: Desk, tally: Tally) -> None:
    """Every address of the admin: those without an object, and those of things of others."""
    for name, converters in named_patterns():
        if not converters:
            desk.look(tally, reverse(f"admin:{name}"))
            continue
        for version, policy in _of_others(desk):
            for given in _arguments(desk, name, converters, policy, version):
                try:
                    address = reverse(f"admin:{name}", kwargs=given)
                except NoReverseMatch:
                    continue
                desk.look(tally, address)


def _of_others(desk: Desk) -> list[tuple[Version, Policy]]:
    mine = managed(desk.world, desk.name)
    return [(p.versions[0], p) for p in desk.world.policies if p not in mine][:1]


def _arguments(
    desk: Desk, name: str, converters: dict[str, Any], policy: Policy, version: Version
) -> Iterator[dict[str, Any]]:
    """What an address may be given to reach what belongs to another's policy."""
    made = desk.made
    section = made.sections[version.sections[0].word]
    ids: list[Any] = {
        "policy": [made.policies[policy.slug]],
        "policyversion": [made.versions[policy.slug, version.number]],
        "chunk": [made.chunks[chunk.word] for chunk in version.chunks if chunk.state != "ready"],
        "section": [section[0]],
    }.get(name.split("_")[1], [made.versions[policy.slug, version.number]])
    public = made.version_ids[policy.slug, version.number]
    acts = ("approve", "reject", "withdraw", "retire") if "name" in converters else ("",)
    for one in ids or [1]:
        for act in acts:
            yield {
                key: act if key == "name" else public if "uuid" in str(kind).lower() else one
                for key, kind in converters.items()
            }


def named_patterns() -> list[tuple[str, dict[str, Any]]]:
    """The names of the admin's addresses, each with its parts that vary."""
    found = {}
    for pattern in _patterns(admin.site.get_urls()):
        name = pattern.name or ""  # without one it only leads to another
        if name and name not in _LEFT_OUT and isinstance(pattern.pattern, RoutePattern):
            found[name] = dict(pattern.pattern.converters)
    return sorted(found.items(), key=lambda one: one[0])


def _patterns(patterns: list[Any]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _patterns(pattern.url_patterns)
        else:
            yield pattern


def as_if_missing(desk: Desk, tally: Tally) -> None:
    """A thing of another department is one that is not there."""
    for version, policy in _of_others(desk):
        for name, pk in (
            ("policy", desk.made.policies[policy.slug]),
            ("policyversion", desk.made.versions[policy.slug, version.number]),
        ):
            told = []
            for one in (pk, 999_999_999):
                desk.get(reverse("admin:index"))  # shows what was to be said, and forgets it
                address = reverse(f"admin:documents_{name}_change", args=[one])
                told.append(desk.get(address).masked(str(one)))
            tally.same("admin missing", desk.who, name, *told)
