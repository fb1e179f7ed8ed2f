"""Labels of versions and sections, and the access classes of the chunks that follow from them.

Sections are made anew whenever a file is read again; labels of their own are then put back,
or the version fails: a restricted annex never opens by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def restore_labels(version: PolicyVersion, labels: Mapping[Mark, list[AccessLabel]]) -> None:
    """Give the sections of a version that was read again the labels that they had."""
    if not labels:
        return
    for section in version.sections.all():
        if mark_of(section) in labels:
            section.labels.set(labels[mark_of(section)])
    relabel(version)


def relabel(version: PolicyVersion) -> None:
    """Give every chunk the class of its section: own labels, else the nearest parent's.

    A restriction of a parent section holds below it whatever a child says, since the child's
    path shows the parent's heading. A section's own restriction alone keeps the audiences
    that it would have had, so adding one never widens and never empties.
    """
    effective: dict[int, frozenset[AccessLabel]] = {}
    of_version = frozenset(version.labels.all())
    sections = version.sections.prefetch_related("labels").order_by("ordinal")
    for section in sections:
        above = effective.get(section.parent_id, of_version) if section.parent_id else of_version
        effective[section.pk] = _combined(above, frozenset(section.labels.all()))
    for labels in set(effective.values()):
        ids = [pk for pk, own in effective.items() if own == labels]
        access_class = access.class_for(labels)
        chunks = version.chunks.filter(section__in=ids)
        chunks.exclude(access_class=access_class).update(access_class=access_class)


def _combined(above: frozenset[AccessLabel], own: frozenset[AccessLabel]) -> frozenset[AccessLabel]:
    is_audience = {label for label in own if label.role == AccessLabel.Role.AUDIENCE}
    audiences = is_audience or {label for label in above if label.role == AccessLabel.Role.AUDIENCE}
    restrictions = {label for label in above | own if label.role == AccessLabel.Role.RESTRICTION}
    return frozenset(audiences | restrictions)
