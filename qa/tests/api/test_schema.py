from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from documents.tests import factories
from qa.tests.api.support import LEAVE, QUESTION, Api, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Api:
    return signed_in(factories.user("emp"))


@pytest.fixture
def schema(api: Api) -> dict[str, Any]:
    document: dict[str, Any] = api.client.get("/api/schema?format=json").json()
    return document


def test_schema_is_valid_openapi_3_1(schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(schema).validate()


def test_every_operation_tells_its_errors_and_security(schema: dict[str, Any]) -> None:
    assert {"apiKey", "cookieAuth"} <= set(schema["components"]["securitySchemes"])
    operations = [op for path in schema["paths"].values() for op in path.values()]
    assert len(operations) >= 9
    for operation in operations:
        assert {"401", "503"} <= set(operation["responses"])
        assert "application/problem+json" in operation["responses"]["401"]["content"]
        assert {"apiKey": []} in operation["security"]
        assert operation["summary"]


def test_ask_has_examples_and_limits(schema: dict[str, Any]) -> None:
    ask = schema["paths"]["/api/v1/ask"]["post"]
    question = schema["components"]["schemas"]["QuestionRequest"]["properties"]["question"]

    assert ask["requestBody"]["content"]["application/json"]["examples"]
    assert ask["responses"]["200"]["content"]["application/json"]["examples"]
    assert question["maxLength"] == 1000
    stream = schema["paths"]["/api/v1/ask/stream"]["post"]["responses"]["200"]
    assert list(stream["content"]) == ["text/event-stream"]


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("post", "ask", "Answer"),
        ("post", "search", "Search"),
        ("get", "policies", "Policies"),
        ("get", "me", "Me"),
    ],
)
def test_replies_are_as_published(
    api: Api, schema: dict[str, Any], method: str, path: str, name: str
) -> None:
    factories.published(LEAVE)
    reply = api.post(path, {"question": QUESTION}) if method == "post" else api.get(path)
    published = {"$ref": f"#/components/schemas/{name}Schema", "components": schema["components"]}

    OAS31Validator(published).validate(reply.json())
    properties = schema["components"]["schemas"][f"{name}Schema"]["properties"]
    assert set(reply.json()) == set(properties)


def test_docs_load_nothing_inline_and_nothing_from_elsewhere(api: Api) -> None:
    reply = api.client.get("/api/docs")
    page = reply.content.decode()
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)

    assert reply.status_code == 200
    assert "script-src 'self'" in reply["Content-Security-Policy"]
    assert "<style" not in page
    assert " style=" not in page
    assert re.findall(r"<script(?![^>]*src=)", page) == []
    assert sources
    assert all(source.startswith("/") for source in sources)
    script = api.client.get(next(s for s in sources if "script" in s).replace("&amp;", "&"))
    assert script["Content-Type"].startswith("application/javascript")
    assert "/api/schema" in script.content.decode()


def test_schema_and_docs_need_a_log_in() -> None:
    assert Client().get("/api/schema").status_code == 401
    assert Client().get("/api/docs").status_code == 302
