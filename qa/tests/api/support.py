"""What the tests of the API share: callers, masks, events, and policies that HR alone reads."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from documents.models import ManagedDepartment
from documents.tests import factories
from qa import keys
from qa.tests.fake_claude import FakeClaude

LEAVE = """# Leave policy

## 1 Annual leave

Staff receive 27 days of annual leave each year.

## 2 Carry-over

Up to five days of annual leave may be carried over into the next year.
"""
DISCIPLINE = """# Disciplinary procedure

## 1 Warnings

A final written warning stays on the employee's file for 18 months.

## 2 Annual leave during suspension

A suspended employee keeps 27 days of annual leave each year.
"""
QUESTION = "How many days of annual leave do staff receive each year?"
HR_QUESTION = "How long does a final written warning stay on file?"


@dataclass(frozen=True, slots=True)
class Api:
    """A caller of the API: by key, or signed in."""

    client: Client
    headers: dict[str, str]

    def post(self, path: str, body: Any) -> Any:
        return self.client.post(
            f"/api/v1/{path}", body, content_type="application/json", headers=self.headers
        )

    def get(self, path: str, **query: str) -> Any:
        return self.client.get(f"/api/v1/{path}", query, headers=self.headers)


def signed_in(user: User, *, enforce_csrf_checks: bool = False) -> Api:
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(user)
    return Api(client, {})


def with_key(user: User, *scopes: str, labels: list[str] | None = None, **fields: Any) -> Api:
    key = keys.create_key(user, name="test", scopes=scopes, labels=labels, **fields)
    return Api(Client(), {"Authorization": f"Bearer {key}"})


def give(user: User, *rights: str) -> User:
    """The user, with rights such as `documents.add_policyversion`, freshly loaded."""
    for right in rights:
        app, codename = right.split(".")
        user.user_permissions.add(
            Permission.objects.get(content_type__app_label=app, codename=codename)
        )
    return User.objects.get(pk=user.pk)


def steward(name: str, department: str, *rights: str) -> User:
    """A member of staff who looks after a department."""
    user = factories.user(name, is_staff=True)
    ManagedDepartment.objects.create(user=user, department=department)
    return give(user, "documents.add_policyversion", *rights)


def masked(body: bytes | str) -> str:
    """A reply without what differs between two runs of the same: ids of answers, milliseconds."""
    text = body.decode() if isinstance(body, bytes) else body
    text = re.sub(r'"ms": ?[\d.]+', '"ms": 0', text)
    return re.sub(r'("id": ?)"[0-9a-f-]{36}"', r'\1"…"', text)


def events_of(body: bytes) -> list[tuple[str, Any]]:
    """The events of a stream, by the rules of the HTML standard; comments are left out."""
    found = []
    for block in re.split(r"\r\n\r\n|\n\n|\r\r", body.decode("utf-8")):
        lines = [line for line in re.split(r"\r\n|\n|\r", block) if not line.startswith(":")]
        fields = [line.partition(": ") for line in lines if line]
        data = "\n".join(value for name, _, value in fields if name == "data")
        if data:
            name = next(value for field, _, value in fields if field == "event")
            found.append((name, json.loads(data)))
    return found


def use_claude(settings: Any, claude: FakeClaude) -> None:
    settings.ANTHROPIC_API_KEY = "sk-test"
    settings.ANTHROPIC_BASE_URL = claude.base_url
