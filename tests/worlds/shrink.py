"""Takes away of a world what a difference does not need."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from tests.worlds.shapes import Section, Who, World


def shrink(
    world: World, who: Who, is_failing: Callable[[World], bool], *, most: int = 300
) -> World:
    """The smallest world found in `most` tries that still fails for a reader.

    `world` itself stays as it is.
    """
    small, tries = copy.deepcopy(world), 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for other in _smaller(small, who):
            tries += 1
            if tries > most:
                return small
            if is_failing(other):
                small, is_smaller = other, True
                break
    return small


def _smaller(world: World, who: Who) -> Iterator[World]:
    for i in range(len(world.policies)):
        other = copy.deepcopy(world)
        del other.policies[i]
        yield other
    for name in world.keys.keys() - {who.key}:
        other = copy.deepcopy(world)
        del other.keys[name]
        yield other
    owners = {key.owner for key in world.keys.values()}
    for name in world.people.keys() - owners - {who.person}:
        other = copy.deepcopy(world)
        del other.people[name]
        yield other
    for i, policy in enumerate(world.policies):
        for j in range(len(policy.versions) if len(policy.versions) > 1 else 0):
            other = copy.deepcopy(world)
            del other.policies[i].versions[j]
            yield other
    yield from _smaller_versions(world)


def _smaller_versions(world: World) -> Iterator[World]:
    """Without a last section, the labels of one, or the last passage of one."""
    places = [
        (i, j) for i, policy in enumerate(world.policies) for j in range(len(policy.versions))
    ]
    for i, j in places:
        sections = world.policies[i].versions[j].sections
        if len(sections) > 1 and not _is_needed(sections):
            other = copy.deepcopy(world)
            del other.policies[i].versions[j].sections[-1]
            yield other
        for k, section in enumerate(sections):
            other = copy.deepcopy(world)
            small = other.policies[i].versions[j].sections[k]
            if len(section.chunks) > 1:
                del small.chunks[-1]
                yield other
            elif section.labels:
                small.labels.clear()
                yield other


def _is_needed(sections: list[Section]) -> bool:
    """Whether the last section is referred to, or holds the last passage."""
    others = sections[:-1]
    is_named = any(section.refers_to == len(others) for section in others)
    return is_named or not any(section.chunks for section in others)
