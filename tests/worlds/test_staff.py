"""The admin in random worlds: staff of departments are told of their own policies alone."""

from __future__ import annotations

import pytest

from tests.worlds import build, generate, staff
from tests.worlds.staff import Desk
from tests.worlds.tally import Kind, Tally
from tests.worlds.visit import rolled_back, surroundings

pytestmark = pytest.mark.django_db

WORLDS = 1


def test_limited_staff_are_told_of_their_own_policies_alone():
    tally = Tally()
    for seed in range(3_000, 3_000 + WORLDS):
        world = generate.world(seed, policies=4, people=3)
        generate.staff(world)
        with rolled_back(), surroundings():
            made = build.build(world)
            for name, person in world.people.items():
                if person.is_staff and person.is_active:
                    desk = Desk(world, made, name)
                    staff.lists(desk, tally)
                    if not person.is_superuser:
                        staff.addresses(desk, tally)
                        staff.as_if_missing(desk, tally)
    assert not [one for one in tally.differences if one.kind is not Kind.LOSS], tally.report()
    assert not tally.differences, tally.report()
    assert tally.by_door["admin 200"] > 50


def test_the_sweep_reaches_the_pages_of_policies_versions_quarantine_and_audit():
    names = {name for name, _ in staff.named_patterns()}

    for model in ("policy", "policyversion", "chunk", "finding", "auditevent"):
        assert {f"documents_{model}_changelist", f"documents_{model}_change"} <= names
    assert {"documents_policyversion_file", "documents_policyversion_act", "autocomplete"} <= names
