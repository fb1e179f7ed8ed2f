"""Rows with safe defaults; a test sets only what it is about.

Everything goes through the real steps (upload, ingest, approve, embed, publish), called in
this process, so a factory never makes a state that the product could not be in.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from typing import Any
from unittest import mock

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.db import transaction

from documents import access, actions, pipeline
from documents.ingestion import parsers
from documents.models import AccessLabel, LabelGrant, Policy, PolicyVersion
from documents.records import ParsedDocument

_numbers = itertools.count(1)

DEFAULT_TEXT = (
    "# Leave policy\n\n## 1 Annual leave\n\nStaff receive 27 days of annual leave each year.\n"
)


def label(slug: str = "all-staff", *, role: str = "audience", hosted: bool = True) -> AccessLabel:
    """A label, made if it is new."""
    return AccessLabel.objects.get_or_create(
        slug=slug, defaults={"name": slug, "role": role, "hosted_model_allowed": hosted}
    )[0]


def user(
    username: str = "", *, labels: Sequence[str] = (), groups: Sequence[str] = (), **fields: object
) -> User:
    """A person with a password (`pass-<username>`) and these labels."""
    name = username or f"person{next(_numbers)}"
    person = get_user_model().objects.create_user(
        name, f"{name}@example.com", f"pass-{name}", **fields
    )
    person.groups.set(Group.objects.filter(name__in=groups))
    for slug in labels:
        LabelGrant.objects.create(label=label(slug), user=person)
    return person


def received(text: str | bytes = DEFAULT_TEXT, **fields: Any) -> PolicyVersion:
    """A version that was uploaded and not yet read."""
    label()
    slug = str(fields.pop("policy_slug", "") or f"policy-{next(_numbers)}")
    given = actions.Upload(
        data=text.encode() if isinstance(text, str) else text,
        file_name=str(fields.pop("file_name", f"{slug}.md")),
        policy_slug=slug,
        title=str(fields.pop("title", slug.replace("-", " ").capitalize())),
        labels=tuple(fields.pop("labels", ("all-staff",))),
        effective_from=fields.pop("effective_from", datetime.date(2024, 1, 1)),
        **fields,
    )
    for slug_ in given.labels:
        label(slug_)
    result = actions.upload(given, actor=None)
    return version(result.version_id)


def version(pk: int) -> PolicyVersion:
    """A fresh copy of a version, readable outside `editing`."""
    with access.editing():
        return PolicyVersion.objects.select_related("policy", "detail").get(pk=pk)


def parsed(text: str | bytes = DEFAULT_TEXT, **fields: Any) -> PolicyVersion:
    """A version that awaits approval (or was held, or failed)."""
    made = received(text, **fields)
    # In this process: a child for each row that a test needs would take most of its time.
    with mock.patch.object(pipeline, "parse_confined", _parse_here):
        pipeline.ingest_version(made.pk)
    return version(made.pk)


def _parse_here(data: bytes, *, file_name: str, **_: object) -> ParsedDocument:
    return parsers.parse(data, file_name=file_name)


def index(version_id: int) -> PolicyVersion:
    """Embed and publish an approved version, as the workers do."""
    pipeline.index_here(version_id)
    return version(version_id)


def published(text: str | bytes = DEFAULT_TEXT, **fields: Any) -> PolicyVersion:
    """A version that readers with its labels can read."""
    made = parsed(text, **fields)
    actions.approve_version(made.pk, reviewer=None)
    return index(made.pk)


def policy(slug: str) -> Policy:
    """A policy, readable outside `editing`."""
    with access.editing(), transaction.atomic():
        return Policy.objects.get(slug=slug)
