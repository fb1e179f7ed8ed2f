"""Every page of the admin works under a policy that allows only our own files."""

from __future__ import annotations

import re

import pytest
from django.contrib.staticfiles import finders

from documents import access
from documents.models import AuditEvent, Chunk
from documents.tests.admin import support
from documents.tests.admin.support import client_of

pytestmark = pytest.mark.django_db
_INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son[a-z]+=|javascript:", re.I)


def test_no_page_holds_inline_script_or_style_and_all_have_the_header():
    world = support.world()
    client = client_of(world.root)
    with access.editing():
        held = Chunk.objects.get(version=world.ours, state="quarantined")
    models = [
        "policy",
        "policyversion",
        "chunk",
        "accesslabel",
        "labelgrant",
        "manageddepartment",
        "alloweddomain",
        "auditevent",
    ]
    pages = [
        "",
        "documents/",
        "auth/user/",
        "auth/group/",
        "qa/apikey/",
        "qa/apikey/add/",
        "auth/user/add/",
        "auth/group/add/",
        f"auth/user/{world.owner.pk}/change/",
        f"auth/user/{world.owner.pk}/password/",
        "password_change/",
        *(f"documents/{model}/" for model in models),
        *(f"documents/{m}/add/" for m in models if m not in ("chunk", "auditevent")),
        f"documents/policy/{world.ours.policy_id}/change/",
        f"documents/policy/{world.ours.policy_id}/history/",
        f"documents/policyversion/{world.ours.pk}/change/",
        f"documents/policyversion/{world.ours.pk}/history/",
        f"documents/policyversion/{world.ours.pk}/labels/",
        f"documents/policyversion/{world.ours.pk}/readers/",
        f"documents/policy/{world.ours.policy_id}/delete-all/",
        "documents/labelgrant/person/?user=employee",
        *(f"documents/policyversion/{world.ours.pk}/do/{act}/" for act in ("approve", "reject")),
        f"documents/chunk/{held.pk}/change/",
        f"documents/auditevent/{AuditEvent.objects.order_by('pk')[0].pk}/change/",
    ]
    for page in pages:
        response = client.get(f"/admin/{page}")
        assert response.status_code == 200, page
        header = response["Content-Security-Policy"]
        assert "script-src 'self'" in header
        assert "unsafe-inline" not in header
        found = _INLINE.search(response.content.decode())
        assert found is None, (page, found)
        assert (
            response["Cache-Control"].startswith("private")
            or "no-store" in response["Cache-Control"]
        )


def test_the_script_and_the_style_are_found():
    assert finders.find("documents/progress.js")
    assert finders.find("documents/admin.css")
