"""Labels of versions and sections, and the access classes of the chunks that follow from them.

Sections are made anew whenever a file is read again; labels of their own are then put back,
or the version fails: a restricted annex never opens by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from documents import access
from documents.models import AccessLabel, PolicyVersion, Section
from documents.records import SectionRecord

Mark = tuple[str | None, str | None, int]  # number, title and place: what one file gives each time


def mark_of(section: Section | SectionRecord) -> Mark:
    """What a section is recognised by when its file is read again."""
    return section.number, section.title, section.start


def own_labels(version: PolicyVersion) -> dict[Mark, list[AccessLabel]]:
    """The sections of a version that have labels of their own, with them."""
    labelled = version.sections.filter(labels__isnull=False).distinct()
    return {mark_of(s): list(s.labels.all()) for s in labelled.prefetch_related("labels")}


def carried_from(version: PolicyVersion) -> list[dict[str, Any]]:
    """The sections of a version with labels of their own, as a version that follows keeps them."""
    return [
        {
            "number": number,
            "title": title,
            "start": start,
            "labels": sorted(label.slug for label in labels),
        }
        for (number, title, start), labels in own_labels(version).items()
    ]


def carried_to(
    rows: Sequence[Mapping[str, Any]], sections: Sequence[SectionRecord]
) -> dict[Mark, list[AccessLabel]]:
    """What `carried_from` gave, by the marks of the sections of a text that follows.

    A section is found again by its place, else by a number and heading that only it has. One
    that is not found keeps the mark that it had, which no section has: the version then fails.
    """
    marks = [mark_of(section) for section in sections]
    found: dict[Mark, list[AccessLabel]] = {}
    for row in rows:
        was: Mark = (row["number"], row["title"], row["start"])
        named = [mark for mark in marks if mark[:2] == was[:2]]
        at = was if was in marks else named[0] if len(named) == 1 else was
        found[at] = access.require_labels(row["labels"])
    return found


def restore_labels(version: PolicyVersion, labels: Mapping[Mark, list[AccessLabel]]) -> None:
    """Give the sections of a version that was read again the labels that they had."""
    if not labels:
        return
    for section in version.sections.all():
        if mark_of(section) in labels:
            section.labels.set(labels[mark_of(section)])
    relabel(version)


def effective_labels(
    version: PolicyVersion,
    *,
    of_version: Iterable[AccessLabel] | None = None,
    own: Mapping[int, Iterable[AccessLabel]] | None = None,
) -> dict[int, frozenset[AccessLabel]]:
    """The labels that decide on each section of a version, by the section's id, in order.

    A restriction of a parent section holds below it whatever a child says, since the child's
    path shows the parent's heading. A section's own restriction alone keeps the audiences
    that it would have had, so adding one never widens and never empties.

    Args:
        version: with its sections.
        of_version: labels that the version would have; None: those it has.
        own: labels that sections would have, by id; the others keep theirs.
    """
    effective: dict[int, frozenset[AccessLabel]] = {}
    top = frozenset(version.labels.all() if of_version is None else of_version)
    sections = version.sections.prefetch_related("labels").order_by("ordinal")
    for section in sections:
        above = effective.get(section.parent_id, top) if section.parent_id else top
        wanted = (own or {}).get(section.pk)
        labels = section.labels.all() if wanted is None else wanted
        effective[section.pk] = _combined(above, frozenset(labels))
    return effective


def relabel(version: PolicyVersion) -> None:
    """Give every chunk the class of its section's effective labels."""
    effective = effective_labels(version)
    for labels in set(effective.values()):
        ids = [pk for pk, held in effective.items() if held == labels]
        access_class = access.class_for(labels)
        chunks = version.chunks.filter(section__in=ids)
        chunks.exclude(access_class=access_class).update(access_class=access_class)


def _combined(above: frozenset[AccessLabel], own: frozenset[AccessLabel]) -> frozenset[AccessLabel]:
    is_audience = {label for label in own if label.role == AccessLabel.Role.AUDIENCE}
    audiences = is_audience or {label for label in above if label.role == AccessLabel.Role.AUDIENCE}
    restrictions = {label for label in above | own if label.role == AccessLabel.Role.RESTRICTION}
    return frozenset(audiences | restrictions)
