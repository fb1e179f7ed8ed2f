"""Takes away of a world what a difference does not need."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from tests.worlds.shapes import World


def shrink(world: World, is_failing: Callable[[World], bool], *, most: int = 300) -> World:
    """The smallest world found in `most` tries that still fails; `world` itself stays as it is."""
    small, tries = copy.deepcopy(world), 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for other in _smaller(small):
            tries += 1
            if tries > most:
                return small
            if is_failing(other):
                small, is_smaller = other, True
                break
    return small


def _smaller(world: World) -> Iterator[World]:
    for i in range(len(world.policies)):
        yield _without(world, lambda w, i=i: w.policies.pop(i))
    for i, policy in enumerate(world.policies):
        for j in range(len(policy.versions) if len(policy.versions) > 1 else 0):
            yield _without(world, lambda w, i=i, j=j: w.policies[i].versions.pop(j))
    for name in world.keys:
        yield _without(world, lambda w, name=name: w.keys.pop(name))
    for name in world.people:
        if all(key.owner != name for key in world.keys.values()):
            yield _without(world, lambda w, name=name: w.people.pop(name))
    yield from _smaller_versions(world)


def _smaller_versions(world: World) -> Iterator[World]:
    for i, policy in enumerate(world.policies):
        for j, version in enumerate(policy.versions):
            if len(version.sections) > 1 and not _is_needed(version.sections, -1):
                yield _without(world, lambda w, i=i, j=j: w.policies[i].versions[j].sections.pop())
            for k, section in enumerate(version.sections):
                if section.labels:
                    yield _without(
                        world,
                        lambda w, i=i, j=j, k=k: (
                            w.policies[i].versions[j].sections[k].labels.clear()
                        ),
                    )
                if len(section.chunks) > 1:
                    yield _without(
                        world,
                        lambda w, i=i, j=j, k=k: w.policies[i].versions[j].sections[k].chunks.pop(),
                    )


def _is_needed(sections: list, place: int) -> bool:
    """Whether a section is a parent, is referred to, or holds the last passage."""
    at = len(sections) + place
    others = sections[:at]
    is_named = any(at in (s.parent, s.refers_to) for s in others)
    return is_named or not any(section.chunks for section in others)


def _without(world: World, take: Callable[[World], object]) -> World:
    other = copy.deepcopy(world)
    take(other)
    return other
