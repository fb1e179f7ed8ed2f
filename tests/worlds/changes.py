"""What happens to a world: each change by the product's own acts, and in the model alike.

A change says in words what it did, or nothing where the world had no place for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, TypeVar

from django.contrib.auth.models import User

from documents import actions, pipeline
from documents.models import AccessLabel, LabelGrant
from qa.models import ApiKey
from tests.worlds.build import Built
from tests.worlds.shapes import Policy, Version, World

T = TypeVar("T")
Change = Callable[[Random, World, Built], str]


def _pick(random: Random, among: Iterable[T]) -> T | None:
    found = list(among)
    return random.choice(found) if found else None


def grant(random: Random, world: World, made: Built) -> str:
    """A person or a group gets a label, or loses it."""
    label = random.choice(sorted(world.labels))
    to: dict[str, Any]
    if random.random() < 0.5:
        name = random.choice(sorted(world.groups))
        granted, to = world.groups[name], {"group": made.groups[name]}
    else:
        name = random.choice(sorted(world.people))
        granted, to = world.people[name].labels, {"user": made.users[name]}
    if label in granted:
        granted.remove(label)
        actions.revoke_label(LabelGrant.objects.get(label__slug=label, **to), actor=None)
        return f"{name} lost {label}"
    granted.add(label)
    actions.grant_label(label, actor=None, **to)
    return f"{name} got {label}"


def membership(random: Random, world: World, made: Built) -> str:
    """Somebody joins a group or leaves it."""
    person, group = random.choice(list(world.people.values())), random.choice(sorted(world.groups))
    if group in person.groups:
        person.groups.remove(group)
        made.users[person.name].groups.remove(made.groups[group])
        return f"{person.name} left {group}"
    person.groups.add(group)
    made.users[person.name].groups.add(made.groups[group])
    return f"{person.name} joined {group}"


def account(random: Random, world: World, made: Built) -> str:
    """An account is disabled, or enabled again."""
    person = random.choice(list(world.people.values()))
    person.is_active = not person.is_active
    user = made.users[person.name] = User.objects.get(pk=made.users[person.name].pk)
    user.is_active = person.is_active
    user.save(update_fields=["is_active"])
    return f"{person.name} is {'active' if person.is_active else 'disabled'}"


def key_labels(random: Random, world: World, made: Built) -> str:
    """A key carries other labels."""
    key = _pick(random, world.keys.values())
    if key is None:
        return ""
    slugs = random.sample(sorted(world.labels), random.randint(0, 3))
    key.labels = random.choice((None, frozenset(slugs)))
    labels = sorted(key.labels) if key.labels is not None else None
    ApiKey.objects.filter(name=key.name).update(labels=labels)
    return f"{key.name} carries {labels}"


def version_labels(random: Random, world: World, made: Built) -> str:
    """A version comes under other labels."""
    policy, version = random.choice(_versions(world))
    audiences = [label.slug for label in world.labels.values() if label.is_audience]
    slugs = {random.choice(audiences), *random.sample(sorted(world.labels), random.randint(0, 2))}
    version.labels = slugs
    pk = made.versions[policy.slug, version.number]
    actions.set_version_labels(pk, sorted(slugs), actor=None)
    return f"{policy.slug}@{version.number} is under {sorted(slugs)}"


def section_labels(random: Random, world: World, made: Built) -> str:
    """A section gets labels of its own, or loses them."""
    section = random.choice([s for _, version in _versions(world) for s in version.sections])
    slugs = set(random.sample(sorted(world.labels), random.choice((0, 0, 1, 2))))
    section.labels = slugs
    actions.set_section_labels(made.sections[section.word][0], sorted(slugs), actor=None)
    return f"section {section.word} has its own {sorted(slugs)}"


def hosted(random: Random, world: World, made: Built) -> str:
    """Text under a label may go to a hosted model, or may not any more."""
    label = random.choice(list(world.labels.values()))
    label.hosted = not label.hosted
    AccessLabel.objects.filter(slug=label.slug).update(hosted_model_allowed=label.hosted)
    return f"{label.slug} may {'' if label.hosted else 'not '}be sent"


def withdraw(random: Random, world: World, made: Built) -> str:
    """A published version is taken back; now and then, so that something stays."""
    found = _pick(random, _in_state(world, "published"))
    if found is None or random.random() < 0.5:
        return ""
    policy, version = found
    version.state = "withdrawn"
    actions.withdraw_version(made.versions[policy.slug, version.number], actor=None, note="error")
    return f"{policy.slug}@{version.number} was withdrawn"


def retire(random: Random, world: World, made: Built) -> str:
    """A published version ends."""
    found = _pick(random, [one for one in _in_state(world, "published") if one[1].last is None])
    if found is None:
        return ""
    policy, version = found
    last = version.first + random.choice((0, 1, 30))
    pk = made.versions[policy.slug, version.number]
    actions.retire_version(pk, last_day=made.day(last), actor=None)
    version.last = last
    return f"{policy.slug}@{version.number} ends on day {last:+d}"


def publish(random: Random, world: World, made: Built) -> str:
    """A version that was indexed comes into force, closing the one before."""
    found = _pick(random, _in_state(world, "indexing"))
    if found is None:
        return ""
    policy, version = found
    pipeline.publish_version(made.versions[policy.slug, version.number])
    others = [x for x in policy.versions if x.state == "published"]
    has_audience = any(world.labels[slug].is_audience for slug in version.labels)
    if not has_audience or any(x.first == version.first for x in others):
        version.state = "failed"
        return f"{policy.slug}@{version.number} could not be published"
    version.state = "published"
    for other in others:
        if other.first < version.first and (other.last is None or other.last >= version.first):
            other.last = version.first - 1
    later = min((x.first for x in others if x.first > version.first), default=None)
    if later is not None and (version.last is None or version.last >= later):
        version.last = later - 1
    return f"{policy.slug}@{version.number} was published"


def decide(random: Random, world: World, made: Built) -> str:
    """A passage in quarantine is released or rejected, or that is taken back."""
    held = [(v, chunk) for _, v in _versions(world) for chunk in v.chunks if chunk.state != "ready"]
    found = _pick(random, held)
    if found is None:
        return ""
    version, chunk = found
    release = random.random() < 0.5
    pk = made.chunks[chunk.word]
    actions.decide_chunk(pk, release=release, reviewer=None, note="seen")
    chunk.state = "released" if release else "rejected"
    _leave_hold(version)
    return f"passage {chunk.word} was {chunk.state}"


def decide_loose(random: Random, world: World, made: Built) -> str:
    """A finding outside any passage is released."""
    found = _pick(random, [one for one in _versions(world) if one[1].loose == "pending"])
    if found is None:
        return ""
    policy, version = found
    pk = made.loose[policy.slug, version.number]
    actions.decide_finding(pk, release=True, reviewer=None, note="seen")
    version.loose = "released"
    _leave_hold(version)
    return f"the finding of {policy.slug}@{version.number} was released"


def _leave_hold(version: Version) -> None:
    is_waiting = version.loose == "pending" or any(c.state == "quarantined" for c in version.chunks)
    if version.state == "held" and not is_waiting:
        version.state = "awaiting_approval"


def _versions(world: World) -> list[tuple[Policy, Version]]:
    return [(policy, version) for policy in world.policies for version in policy.versions]


def _in_state(world: World, state: str) -> list[tuple[Policy, Version]]:
    return [one for one in _versions(world) if one[1].state == state]


CHANGES: tuple[Change, ...] = (
    grant,
    grant,
    membership,
    account,
    key_labels,
    version_labels,
    section_labels,
    section_labels,
    hosted,
    withdraw,
    retire,
    publish,
    decide,
    decide_loose,
)


def change(random: Random, world: World, made: Built) -> str:
    """One change that had a place."""
    while True:
        if told := random.choice(CHANGES)(random, world, made):
            return told
