"""Loads the demonstration corpus of `demo/`: labels, people, policies and questions.

Everything goes through the same actions that a person uses, so what the demonstration shows
is what the product does. Loading twice changes nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User

from documents import access, actions, pipeline
from documents.errors import DocumentsError
from evaluation.question_sets import import_file

DEMO_DIR = Path(__file__).resolve().parent.parent / "demo"


def manifest() -> dict[str, Any]:
    """What `demo/manifest.yaml` says."""
    loaded: dict[str, Any] = yaml.safe_load((DEMO_DIR / "manifest.yaml").read_text("utf-8"))
    return loaded


def showcase() -> list[dict[str, str]]:
    """The questions that `manage.py demo` asks, with who asks and what is expected."""
    loaded = yaml.safe_load((DEMO_DIR / "showcase.yaml").read_text("utf-8"))
    questions: list[dict[str, str]] = loaded["questions"]
    return questions


def load(report: Callable[[str], None]) -> None:
    """Load labels, people and policies; `report` gets one line per policy version."""
    data = manifest()
    actions.create_labels(data["labels"])
    users = [_user(row) for row in data["users"]]
    admin = next((user for user in users if user.is_superuser), None)
    for policy in data["policies"]:
        for version in policy.get("versions") or [policy]:
            report(_load_version(policy, version, admin))
    asked = import_file(DEMO_DIR / "questions.jsonl", name="demo")
    what = "imported" if asked.is_new else "already there"
    report(f"Question set {asked.name}, version {asked.version}: {what}")


def _user(row: dict[str, Any]) -> User:
    first, _, last = row["name"].partition(" ")
    user, is_new = get_user_model().objects.get_or_create(
        username=row["username"],
        defaults={
            "email": row["email"],
            "first_name": first,
            "last_name": last,
            "is_staff": row.get("is_staff", False) or "policy owner" in row["groups"],
            "is_superuser": row.get("is_superuser", False),
        },
    )
    if is_new:
        user.set_password(row["password_hint"])
        user.save(update_fields=["password"])
        user.groups.set(Group.objects.filter(name__in=row["groups"]))
        actions.let_manage(user, row.get("departments", []))
        for slug in row["labels"]:
            if slug != settings.EVERYONE_LABEL:
                actions.grant_label(slug, actor=None, user=user)
    return user


def _load_version(policy: dict[str, Any], version: dict[str, Any], admin: User | None) -> str:
    path = DEMO_DIR / version["file"]
    received = actions.upload(
        actions.Upload(
            data=path.read_bytes(),
            file_name=path.name,
            policy_slug=policy["slug"],
            title=policy["title"],
            labels=tuple(policy["labels"]),
            effective_from=_date(version["effective_from"]),
            effective_to=_date(version.get("effective_to")),
            contact=policy["owner"],
            department=policy["department"],
            category=policy["category"],
            language=policy["language"],
        ),
        actor=admin,
    )
    name = f"{policy['title']}, version {received.number}"
    if received.state == "published":
        return f"{name}: already there"
    try:
        publish_inline(received.version_id, admin)
    except DocumentsError as error:
        return f"{name}: {error.message}"
    return f"{name}: {_state(received.version_id)}"


def publish_inline(version_id: int, reviewer: User | None) -> None:
    """Read, approve, embed and publish in this process, as the workers would.

    Goes on from wherever an interrupted run left the version.
    """
    if _is(version_id, "failed"):
        actions.retry_version(version_id, actor=reviewer)
    pipeline.ingest_version(version_id)
    if _is(version_id, "awaiting_approval"):
        actions.approve_version(version_id, reviewer=reviewer)
    pipeline.index_here(version_id)


def _is(version_id: int, state: str) -> bool:
    return access.version_summary(version_id).state == state


def _state(version_id: int) -> str:
    summary = access.version_summary(version_id)
    held = f", {summary.held} of its passages in quarantine" if summary.held else ""
    return f"{summary.state}, {summary.chunks} passages{held}"


def _date(value: Any) -> datetime.date | None:
    if value is None or isinstance(value, datetime.date):
        return value
    return datetime.date.fromisoformat(str(value))
