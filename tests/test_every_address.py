"""T-002, T-012, T-018: every address, as everyone, swept for what they may not read.

The addresses come from the URL resolver: one that this matrix cannot call fails the first test,
so a new page has to be listed before it can be merged. Policies, names, files, labels, runs and
questions of each of two departments carry a canary; nobody but its own people may meet it, not
even in an error. What is forbidden and what is missing give the same bytes.
"""

from __future__ import annotations

import datetime
import itertools
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from documents import access, relabelling
from documents.admin.acts import ACTS
from documents.models import (
    AuditEvent,
    Chunk,
    LabelGrant,
    LabelProposal,
    ManagedDepartment,
    Policy,
    PolicyVersion,
    Section,
)
from documents.tests import factories
from documents.tests.admin.support import POISON
from evaluation.models import EvaluationRun
from evaluation.records import LabelledQuestion
from evaluation.runner import Plan, run_question_set
from qa import keys, pipeline
from qa.models import QuestionRecord
from qa.tests.api.support import masked
from tests.built_once import built_once

pytestmark = pytest.mark.django_db

OURS, THEIRS = "quokkacanary", "wombatcanary"
STAFF = ("policy owner", "reviewer", "auditor", "administrator")
MISSING_NUMBER, MISSING_ID = 987_654, uuid.UUID("00000000-0000-4000-8000-000000000000")
# Called by hand elsewhere: they end the session or serve no person.
NOT_SWEPT = {"admin/logout/", "logout/", "admin/jsi18n/"}
QUERIES = ("q=canary&o=1.-2&_facets=True", "_to_field=id&_popup=1")


@dataclass
class Department:
    """What one department holds, all of it marked."""

    canary: str
    admin: User
    reader: User
    version: PolicyVersion
    values: dict[str, list[Any]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def built(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Department, Department, User]]:
    with built_once(django_db_blocker, tmp_path_factory.mktemp("files")):
        made = [_department(canary, name) for canary, name in ((OURS, "HR"), (THEIRS, "Finance"))]
        with override_settings(APPROVAL="four-eyes"):
            for department in made:  # each has a change of labels that waits for a second person
                wanted = relabelling.Wanted(department.version.pk, ("all-staff", "nobody"))
                assert relabelling.change(wanted, actor=department.admin, accepts_no_reader=True)
        yield made[0], made[1], factories.user("emp", groups=["employee"])


@pytest.fixture
def world(
    built: tuple[Department, Department, User], settings: Any
) -> tuple[Department, Department, User]:
    settings.APPROVAL = "four-eyes"
    return built


def _department(canary: str, name: str) -> Department:
    label = f"label-{name.lower()}"
    admin = factories.user(f"admin-{name.lower()}", groups=STAFF, is_staff=True)
    ManagedDepartment.objects.create(user=admin, department=name)
    reader = factories.user(f"reader-{name.lower()}", labels=[label])
    fields = {
        "policy_slug": f"policy-{canary}",
        "title": f"Rules of {canary}",
        "labels": (label,),
        "department": name,
        "contact": f"call {canary}",
        "file_name": f"{canary}.md",
    }
    text = (
        f"# {canary}\n\n## 1 {canary}\n\nThe {canary} bonus is 61 euros.\n\n"
        f"## 2 Note\n\n{POISON} {canary}\n"
    )
    version = factories.published(text, **fields)
    later = datetime.date(2024, 6, 1)
    factories.parsed(text.replace("61", "62"), effective_from=later, **fields)  # awaits approval
    factories.label("nobody")
    question = "How many euros is the bonus?"  # auditors read questions, never answers
    pipeline.ask(pipeline.Asked(access.Reader.for_user(reader), question))
    labelled = LabelledQuestion(canary, question, answerable=True, labels=(label,))
    run_question_set(Plan((labelled,), canary, answerer="extractive"))
    keys.create_key(reader, name="a key", scopes=["read"])
    return Department(canary, admin, reader, version)


def routes() -> Iterator[str]:
    """Every address of the product, as it is written in the URL configuration."""

    def walk(patterns: Iterable[Any], before: str) -> Iterator[str]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            elif isinstance(pattern, URLPattern):
                yield route

    return walk(get_resolver().url_patterns, "")


_PARAMETER = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>\w+)>")
_FIXED = {  # what stands in the place of patterns that no converter describes
    "admin/^(?P<app_label>documents|auth|qa|evaluation)/$": ["admin/documents/", "admin/qa/"],
    "admin/(?P<url>.*)$": ["admin/nowhere", "admin/documents/nowhere/1/"],
    "api/^": ["api/nowhere", "api/v1/nowhere/1"],
}
_UUIDS = {
    "api/v1/answers/": QuestionRecord,
    "history/": QuestionRecord,
    "api/v1/sections/": Section,
    "sections/": Section,
    "api/v1/versions/": PolicyVersion,
    "evaluation/": EvaluationRun,
}


def _values(route: str, name: str) -> list[Any]:
    """What a parameter of a route may be: of both departments, and of nobody.

    Raises:
        LookupError: the matrix does not know this parameter; add it.
    """
    if name == "public_id":
        model = next((m for start, m in _UUIDS.items() if route.startswith(start)), None)
        if model is None:
            raise LookupError(route)
        return [*model._default_manager.values_list("public_id", flat=True), MISSING_ID]
    if name in ("object_id", "id") and route.startswith("admin/"):
        _, app, model_name, *_ = route.split("/")
        if app == "r":
            return [1]
        manager = apps.get_model(app, model_name)._default_manager
        ids = list(manager.order_by("pk").values_list("pk", flat=True))
        return [*ids[:1], *ids[1:][-2:], MISSING_NUMBER]  # of both: made one after the other
    if name in ("older", "newer") and route.startswith("admin/"):
        return list(PolicyVersion.objects.values_list("pk", flat=True))[:2]
    if name == "proposal_id":
        return [*LabelProposal.objects.values_list("pk", flat=True), MISSING_NUMBER]
    fixed: dict[str, list[Any]] = {
        "slug": [f"policy-{OURS}", f"policy-{THEIRS}", "no-such-policy"],
        "name": [*list(ACTS)[:4], "nothing"],
        "number": [1],
        "older": [1],
        "newer": [2],
        "page": [1],
        "content_type_id": [1],
    }
    if name not in fixed:
        raise LookupError(f"{name} of {route}")
    return fixed[name]


def addresses(route: str) -> list[str]:
    """The addresses that a route is tried at."""
    if route in _FIXED:
        return [f"/{address}" for address in _FIXED[route]]
    names = [match["name"] for match in _PARAMETER.finditer(route)]
    choices = [_values(route, name) for name in names]
    found = []
    for chosen in itertools.product(*choices):
        parts = iter(map(str, chosen))
        found.append("/" + _PARAMETER.sub(lambda _: next(parts), route))  # noqa: B023 - used at once
    return found


def test_every_address_is_in_the_matrix(world: object) -> None:
    with access.editing():
        unknown = [route for route in routes() if not _is_known(route)]

    assert unknown == []
    assert len(list(routes())) > 100


def _is_known(route: str) -> bool:
    if route in _FIXED:
        return True
    try:
        tried = addresses(route)
    except LookupError:
        return False
    return bool(tried) and "(" not in route


def _client(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def _body(response: Any) -> str:
    return _data(response).decode("utf-8", "replace") + str(response.headers)


def _data(response: Any) -> bytes:
    if not response.streaming:
        return bytes(response.content)
    if not response.is_async:
        return b"".join(response.streaming_content)

    async def read() -> bytes:
        return b"".join([piece async for piece in response])

    return async_to_sync(read)()


def _swept() -> list[str]:
    with access.editing():
        found = [a for route in routes() if route not in NOT_SWEPT for a in addresses(route)]
    lists = [a for a in found if re.fullmatch(r"/admin/\w+/\w+/", a)]
    return [*found, *(f"{a}?{query}" for a in lists for query in QUERIES)]


def test_nobody_meets_a_canary_of_others_at_any_address(
    world: tuple[Department, Department, User],
) -> None:
    ours, theirs, emp = world
    tried = _swept()
    met: dict[str, set[str]] = {}
    for user, forbidden in (
        (None, (OURS, THEIRS)),
        (emp, (OURS, THEIRS)),
        (ours.admin, (THEIRS,)),
        (theirs.reader, (OURS,)),
    ):
        client = _client(user)
        name = user.username if user else "nobody"
        limited = tried if user == ours.admin else [a for a in tried if _is_short(a)]
        for address in limited:
            body = _body(client.get(address, follow=user == ours.admin)).replace(address, "")
            for canary in forbidden:
                assert canary not in _without_echo(body, address), f"{name} at {address}"
            met.setdefault(name, set()).update(c for c in (OURS, THEIRS) if c in body)

    # Each sees what is theirs, so that the sweep could have found something.
    assert OURS in met["admin-hr"]
    assert THEIRS in met["reader-finance"]


def _is_short(address: str) -> bool:
    """Whoever is no staff gets one refusal for all of the admin: a few of its pages will do."""
    return not address.startswith("/admin/") or address.count("/") <= 4


def _without_echo(body: str, address: str) -> str:
    """A page may say back what its own address holds: that told the caller nothing."""
    for canary in (OURS, THEIRS):
        if canary in address:
            body = body.replace(f"policy-{canary}", "")
    return body


FORGED = {
    "state": "published",
    "approved_by": 1,
    "labels": [1],
    "note": "x",
    "title": "x",
    "department": "HR",
    "slug": "x",
    "is_superuser": "on",
    "is_staff": "on",
    "groups": [1],
    "password1": "x8-long-enough",
    "password2": "x8-long-enough",
    "post": "yes",
    "decision": "release",
    "accept": "1",
    "action": "delete_selected",
    "select_across": "1",
    "last_day": "2030-01-01",
    "user": "admin-hr",
    "username": "admin-hr",
}


def test_no_forged_form_changes_anything_of_others_or_anybodys_rights(
    world: tuple[Department, Department, User],
) -> None:
    ours, theirs, emp = world
    before, grants = _state(theirs), _grants()
    with access.editing():
        last_event = AuditEvent.objects.latest("pk").pk
        own = {
            str(pk)
            for pk in PolicyVersion.objects.filter(policy__department="HR").values_list(
                "pk", flat=True
            )
        }
    for user in (emp, ours.admin):
        for address in _swept():
            if "?" in address or not _is_theirs_or_no_ones(address, own):
                continue
            if user == emp and not _is_short(address):
                continue
            reply = _client(user).post(address, FORGED)
            assert THEIRS not in _without_echo(_body(reply), address), address
    assert _state(theirs) == before
    assert _grants() <= grants  # administrators take labels from anybody; nobody gets one
    with access.editing():
        changed = AuditEvent.objects.filter(pk__gt=last_event, object_id__in=_ids_of(theirs))
        assert [event.action for event in changed] == []


def _is_theirs_or_no_ones(address: str, own: set[str]) -> bool:
    """Forged forms may change what is one's own: those are sent to all else."""
    is_of_version = address.startswith("/admin/documents/policyversion/")
    return not (is_of_version and own & set(address.split("/")))


def _ids_of(department: Department) -> list[str]:
    policy = department.version.policy
    sections = Section.objects.filter(version__policy=policy).values_list("public_id", flat=True)
    chunks = Chunk.objects.filter(version__policy=policy).values_list("public_id", flat=True)
    versions = PolicyVersion.objects.filter(policy=policy).values_list("public_id", flat=True)
    return [str(one) for one in (policy.public_id, *versions, *sections, *chunks)]


def _grants() -> set[tuple[Any, ...]]:
    return set(LabelGrant.objects.values_list("label__slug", "user__username", "group__name"))


def _state(department: Department) -> tuple[object, ...]:
    """What a department holds, and what everybody is."""
    with access.editing():
        policy = Policy.objects.get(pk=department.version.policy_id)
        versions = PolicyVersion.objects.filter(policy=policy).order_by("pk")
        return (
            policy.title,
            policy.slug,
            policy.department,
            [(v.state, str(v.effective), sorted(map(str, v.labels.all()))) for v in versions],
            list(versions.order_by("pk").values_list("detail__approved_by", "detail__failure")),
            list(
                Chunk.objects.filter(version__policy=policy)
                .order_by("pk")
                .values_list("state", "access_class")
            ),
            sorted(
                User.objects.values_list(
                    "username", "is_superuser", "is_staff", "is_active", "password"
                )
            ),
            sorted(User.groups.through.objects.values_list("user", "group")),
            sorted(ManagedDepartment.objects.values_list("user__username", "department")),
            sorted(department.version.label_proposals.values_list("decision", flat=True)),
        )


def test_forbidden_and_missing_give_the_same_bytes_at_every_address(
    world: tuple[Department, Department, User],
) -> None:
    ours, _, emp = world
    pairs = list(_pairs())
    assert len(pairs) > 20
    for user in (emp, ours.reader, ours.admin):
        client = _client(user)
        for forbidden, missing in pairs:
            if user != ours.admin and forbidden.startswith("/admin/"):
                continue
            one, other = client.get(forbidden), client.get(missing)
            assert one.status_code == other.status_code, (user.username, forbidden)
            assert _same(one, forbidden) == _same(other, missing), (user.username, forbidden)


def _pairs() -> Iterator[tuple[str, str]]:
    """Addresses of something of theirs, each beside that of nothing."""
    with access.editing():
        their_policy = Policy.objects.get(slug=f"policy-{THEIRS}")
        of_model = {
            Section: Section.objects.filter(version__policy=their_policy),
            PolicyVersion: PolicyVersion.objects.filter(policy=their_policy),
            QuestionRecord: QuestionRecord.objects.filter(asker_name="reader-finance"),
            EvaluationRun: EvaluationRun.objects.filter(set_name=THEIRS),
        }
        for start, model in _UUIDS.items():
            public_id = of_model[model].values_list("public_id", flat=True)[0]
            for route in routes():
                if route.startswith(start) and "<uuid:public_id>" in route:
                    shape = "/" + route.replace("<int:number>", "1")
                    yield (
                        shape.replace("<uuid:public_id>", str(public_id)),
                        shape.replace("<uuid:public_id>", str(MISSING_ID)),
                    )
        for route in routes():
            if "<str:slug>" in route:
                shape = "/" + re.sub(r"<int:\w+>", "1", route)
                yield (
                    shape.replace("<str:slug>", f"policy-{THEIRS}"),
                    shape.replace("<str:slug>", "no-such-policy"),
                )
        version = of_model[PolicyVersion].order_by("pk")[0]
        for route in routes():
            if route.startswith("admin/documents/policyversion/<int:object_id>/"):
                shape = "/" + re.sub(r"<int:(?!object_id)\w+>", str(version.pk), route)
                shape = shape.replace("<slug:name>", "approve")
                yield (
                    shape.replace("<int:object_id>", str(version.pk)),
                    shape.replace("<int:object_id>", str(MISSING_NUMBER)),
                )


def _same(response: Any, address: str) -> tuple[str, dict[str, str]]:
    """A reply without what its own address says back and what every request has anew."""
    body = masked(_body_alone(response))
    for part in sorted(address.strip("/").split("/"), key=len, reverse=True):
        if len(part) > 4:
            body = body.replace(part, "")
    headers = {k: v for k, v in response.headers.items() if k not in ("Content-Length", "Location")}
    return body, {k: re.sub(r"nonce-[\w=+/-]+", "", v) for k, v in headers.items()}


def _body_alone(response: Any) -> str:
    text = _data(response).decode("utf-8", "replace")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    return re.sub(r"nonce(?:=\"|-)[\w=+/-]+", "", text)
