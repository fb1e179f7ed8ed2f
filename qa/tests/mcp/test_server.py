from __future__ import annotations

import io
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connection
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from documents.tests import factories
from legalqa import services
from qa import keys
from qa.mcp.server import NO_ACCOUNT, NO_SECTION, build_server
from qa.models import ApiKey
from qa.tests.api.support import DISCIPLINE, HR_QUESTION, LEAVE, QUESTION, masked

ROOT = Path(__file__).resolve().parents[3]


def parameters(*arguments: str) -> StdioServerParameters:
    """The command, against the test database."""
    found = services.addresses()
    host = connection.settings_dict["HOST"]
    name = connection.settings_dict["NAME"]
    environment = {
        "DATABASE_URL": f"postgresql://legalqa_app@/{name}?host={host}",
        "DATABASE_OWNER_URL": f"postgresql://legalqa_owner@/{name}?host={host}",
        "REDIS_URL": found.redis_url,
        "DJANGO_SECRET_KEY": django_settings.SECRET_KEY,
        "LEGALQA_MODEL_CACHE_DIR": str(django_settings.MODEL_CACHE_DIR),
        "LEGALQA_LOG_LEVEL": "INFO",
    }
    command = [str(ROOT / "manage.py"), "mcp", *arguments]
    return StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=ROOT)


@asynccontextmanager
async def client_of(username: str) -> AsyncIterator[Client]:
    async with Client(build_server(username)) as client:
        yield client


def said(result: Any) -> str:
    return str(result.content[0].text)


@pytest.fixture
def people(transactional_db: None) -> None:
    factories.published(LEAVE, policy_slug="leave")
    factories.published(DISCIPLINE, policy_slug="discipline", labels=("hr",))
    factories.user("emp")
    factories.user("hr1", labels=["hr"])


async def test_subprocess_answers_searches_and_reads_over_stdio(people: None) -> None:
    async with Client(parameters("--user", "emp")) as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("search_policies", {"question": QUESTION, "n_results": 1})
        (source,) = found.structured_content["results"]
        section = await client.call_tool("get_section", {"section_id": source["section_id"]})
        answer = await client.call_tool("ask_policy", {"question": QUESTION})
        refused = await client.call_tool("ask_policy", {"question": "Who painted the Mona Lisa?"})

    assert {tool.name for tool in tools} == {"search_policies", "get_section", "ask_policy"}
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert "27 days" in said(found)
    assert "27 days" in section.structured_content["text"]
    assert answer.structured_content["status"] == "answered"
    assert "27 days" in said(answer)
    assert refused.structured_content["status"] == "refused"
    assert "below_threshold" in said(refused)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["nobody", "gone"])
def test_unknown_or_disabled_user_ends_with_one_clear_line(name: str) -> None:
    factories.user("gone", is_active=False)
    given = parameters("--user", name)

    done = subprocess.run(
        [given.command, *given.args],
        env={**os.environ, **(given.env or {})},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert f"no active user {name}" in done.stderr
    assert "Traceback" not in done.stderr


async def test_tools_show_only_what_the_person_may_read(people: None) -> None:
    async with client_of("hr1") as hr, client_of("emp") as emp:
        found = await hr.call_tool("search_policies", {"question": HR_QUESTION})
        source = found.structured_content["results"][0]
        hidden = await emp.call_tool("get_section", {"section_id": source["section_id"]})
        unknown = await emp.call_tool("get_section", {"section_id": str(uuid.uuid4())})
        malformed = await emp.call_tool("get_section", {"section_id": "1.2"})
        replies = [
            await emp.call_tool(name, {"question": HR_QUESTION})
            for name in ("search_policies", "ask_policy")
        ]

    assert "18 months" in said(found)
    assert hidden.is_error
    assert said(hidden) == said(unknown) == said(malformed)
    assert NO_SECTION in said(hidden)
    assert all("18 months" not in reply.model_dump_json() for reply in replies)


async def test_hidden_policies_change_no_byte_of_a_reply(transactional_db: None) -> None:
    await sync_to_async(factories.published)(LEAVE, policy_slug="leave")
    await sync_to_async(factories.user)("emp")

    async def replies() -> list[str]:
        async with client_of("emp") as client:
            calls = [
                await client.call_tool(name, {"question": question})
                for name in ("search_policies", "ask_policy")
                for question in (QUESTION, HR_QUESTION)
            ]
        return [masked(call.model_dump_json()) for call in calls]

    before = await replies()
    await sync_to_async(factories.published)(DISCIPLINE, policy_slug="hidden", labels=("hr",))

    assert await replies() == before


async def test_account_that_is_disabled_meanwhile_reads_nothing_more(people: None) -> None:
    async with client_of("emp") as client:
        before = await client.call_tool("search_policies", {"question": QUESTION})
        await sync_to_async(_disable)("emp")
        after = [
            await client.call_tool(name, {"question": QUESTION})
            for name in ("search_policies", "ask_policy")
        ]

    assert not before.is_error
    assert all(reply.is_error and NO_ACCOUNT in said(reply) for reply in after)


def _disable(name: str) -> None:
    from django.contrib.auth.models import User

    User.objects.filter(username=name).update(is_active=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"question": " "}, "empty"),
        ({"question": "x" * 1001}, "1000"),
        ({"question": QUESTION, "as_of": "2999-01-01"}, "future"),
        ({"question": QUESTION, "as_of": "soon"}, "as_of"),
    ],
)
async def test_bad_input_gets_a_clear_message(
    people: None, arguments: dict[str, Any], words: str
) -> None:
    async with client_of("emp") as client:
        for name in ("search_policies", "ask_policy"):
            reply = await client.call_tool(name, arguments)
            assert reply.is_error
            assert words in said(reply)


async def test_unforeseen_failure_keeps_its_text_to_itself(
    people: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr("qa.mcp.server.read_section", fail)
    async with client_of("emp") as client:
        reply = await client.call_tool("get_section", {"section_id": str(uuid.uuid4())})

    assert reply.is_error
    assert "canary" not in said(reply)


# create_api_key


@pytest.mark.django_db
def test_key_is_printed_once_and_kept_as_a_hash() -> None:
    factories.user("emp")
    factories.label()
    out = io.StringIO()

    call_command(
        "create_api_key",
        "--user",
        "emp",
        "--name",
        "crm",
        "--scopes",
        "ask,read",
        "--labels",
        "all-staff",
        "--expires-days",
        "30",
        stdout=out,
        stderr=io.StringIO(),
    )
    key = out.getvalue().strip()
    row = ApiKey.objects.get()

    assert key.startswith("lqa_")
    assert key not in (row.digest, row.prefix)
    assert (row.scopes, row.labels) == (["ask", "read"], ["all-staff"])
    assert row.expires_at is not None
    found = keys.find_key(key)
    assert found is not None
    assert found.user.username == "emp"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"user": "nobody"}, "no active user"),
        ({"scopes": "ask,fly"}, "no scope fly"),
        ({"scopes": ","}, "no scope"),
        ({"labels": "unknown"}, "no label"),
        ({"expires_days": "0"}, "1 or more"),
        ({"name": " "}, "1 to 100"),
    ],
)
def test_bad_key_is_not_made(changes: dict[str, str], words: str) -> None:
    factories.user("emp")
    given = {"user": "emp", "name": "crm", "scopes": "ask"} | changes
    options = [part for k, v in given.items() for part in (f"--{k.replace('_', '-')}", v)]

    with pytest.raises(CommandError, match=words):
        call_command("create_api_key", *options)
    assert not ApiKey.objects.exists()
