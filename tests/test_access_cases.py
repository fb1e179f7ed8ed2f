"""The cases of the kind `access` from public bug reports, each on the documents that it names.

Steps that the report words for another product are done as this one does them: `documents` is
our `policy`, `labels: all` is everyone's label, a collection is a label.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from documents import access, actions, embedding, pipeline
from documents.errors import EmbeddingError
from documents.models import LabelGrant, PolicyVersion, Section
from documents.tests import factories
from documents.tests.ingestion.shared_cases import ALL, needs_cases
from evaluation.models import EvaluationRun
from evaluation.records import LabelledQuestion
from evaluation.runner import Plan, run_question_set
from qa.tests.api.support import Api, masked, signed_in, with_key

pytestmark = [pytest.mark.django_db, needs_cases]

QUESTIONS = {"leave": "How many days is annual leave?", "pay": "At how much does Band D start?"}


class Case:
    """The documents and users of a case."""

    def __init__(self, name: str) -> None:
        self.case = ALL[name]
        given = self.case["input"]
        self.versions: dict[str, PolicyVersion] = {}
        for doc in given["docs"]:
            number, _, rest = doc["text"].partition(". ")
            title = number if rest and number[0].isdigit() else doc["id"].capitalize()
            text = f"# {doc['id'].capitalize()}\n\n## {title}\n\n{rest or doc['text']}\n"
            self.versions[doc["id"]] = factories.published(
                text, policy_slug=doc["id"], labels=tuple(map(_label, doc["labels"]))
            )
        self.users: dict[str, User] = {
            name: factories.user(name, labels=[_label(one) for one in labels if one != "all"])
            for name, labels in given["users"].items()
        }

    def section(self, doc: str) -> Section:
        with access.editing():
            return Section.objects.filter(version=self.versions[doc], chunks__isnull=False)[0]


def _label(name: str) -> str:
    return "all-staff" if name == "all" else name


def _outcome(api: Api, doc: str) -> str:
    """`answer` when it cites that document, else `refuse`."""
    reply = api.post("ask", {"question": QUESTIONS[doc]}).json()
    cited = {c["document"] for claim in reply.get("claims", ()) for c in claim["citations"]}
    return "answer" if doc in {one.lower() for one in cited} else "refuse"


def test_a_label_change_holds_on_the_next_request_and_on_every_path() -> None:
    case = Case("acl-public-to-private")
    ann, hana = signed_in(case.users["ann"]), signed_in(case.users["hana"])
    stored = ann.post("ask", {"question": QUESTIONS["leave"]}).json()
    section = f"sections/{case.section('leave').public_id}"
    assert stored["status"] == "answered"

    def paths(api: Api) -> list[bool]:
        found = api.post("search", {"question": QUESTIONS["leave"]}).content
        again = api.get(f"answers/{stored['id']}").content
        page = api.client.get(f"/{section}/")
        return [b"27 days" in one for one in (found, again, api.get(section).content, page.content)]

    results = []
    for labels, user, api in (
        (["hr"], "ann", ann),
        (["hr"], "hana", hana),
        (["all-staff"], "ann", ann),
    ):
        actions.set_version_labels(case.versions["leave"].pk, labels, actor=None)
        results.append([user, _outcome(api, "leave")])
        if user == "ann":
            assert paths(api) == [labels == ["all-staff"]] * 4

    assert results == case.case["expect"]["after"]


def test_a_filter_only_narrows_and_tells_no_existing_name_from_an_invented_one() -> None:
    case = Case("acl-caller-filter")
    ann = signed_in(case.users["ann"])
    question = {"question": "When does the merger close?"}

    forbidden = ann.post("search", {**question, "policy": "merge"})
    invented = ann.post("search", {**question, "policy": "no-such-doc"})
    labels = [
        ann.post("search", {**question, "labels": [one]}) for one in ("board", "all' OR '1'='1")
    ]

    assert forbidden.json()["results"] == invented.json()["results"] == []
    assert masked(forbidden.content) == masked(invented.content)
    assert [reply.status_code for reply in labels] == [400, 400]  # no caller names labels at all
    assert masked(labels[0].content) == masked(labels[1].content)
    assert b"Heron" not in forbidden.content + labels[0].content


def test_a_token_has_exactly_its_owners_labels_on_every_route() -> None:
    case = Case("acl-token")
    ann = with_key(case.users["ann"], "read", "ask")

    listed = [policy["slug"] for policy in ann.get("policies").json()["policies"]]

    assert listed == ["leave"]
    assert ann.get("policies/pay/versions").status_code == 404
    assert ann.get(f"sections/{case.section('merge').public_id}").status_code == 404
    assert ann.get(f"sections/{case.section('leave').public_id}").status_code == 200
    assert _outcome(ann, "pay") == "refuse"


def test_nothing_of_a_restricted_text_is_in_errors_logs_reports_or_the_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    case = Case("acl-logs-evals")
    secrets = case.case["expect"]["leaks_none_of"]
    ann = signed_in(case.users["ann"])
    labelled = LabelledQuestion("pay", QUESTIONS["pay"], answerable=True, labels=("hr",))
    run_question_set(Plan((labelled,), "all", answerer="extractive"))

    def fail(texts: list[str], *_: Any, **__: Any) -> None:
        raise EmbeddingError("The model gave nothing usable.")

    with caplog.at_level(logging.DEBUG):
        again = factories.parsed(
            "# P\n\n## 7 Pay bands\n\nBand D starts at 61,000 euros.\n", policy_slug="pay2"
        )
        actions.approve_version(again.pk, reviewer=None)
        with monkeypatch.context() as patch:
            patch.setattr(embedding, "encode_passages", fail)
            with pytest.raises(EmbeddingError) as raised:
                pipeline.index_here(again.pk)
        with access.editing():
            run = EvaluationRun.objects.get().public_id
        _outcome(ann, "pay")
        seen = [
            ann.client.get(address).content.decode()
            for address in ("/", "/history/", "/evaluation/", f"/evaluation/{run}/", "/policies/")
        ]

    texts = [*seen, caplog.text, str(raised.value), factories.version(again.pk).detail.failure]
    for secret in secrets:
        assert not any(secret in text for text in texts), secret


def test_pages_and_files_are_kept_by_nobody_and_gone_once_the_right_is() -> None:
    case = Case("acl-browser-cache")
    hana = signed_in(case.users["hana"])
    paths = (f"/sections/{case.section('pay').public_id}/", "/policies/pay/versions/1/file")
    first = [hana.client.get(path) for path in paths]

    LabelGrant.objects.filter(user=case.users["hana"], label__slug="hr").delete()

    assert [reply.status_code for reply in first] == [200, 200]
    for reply in first:
        assert {"private", "no-store"} <= set(reply.headers["Cache-Control"].split(", "))
    after = [str(hana.client.get(path).status_code) for path in paths]
    assert after == case.case["expect"]["status_after"]
    assert Client().get(paths[1]).status_code == 302  # no address is open to all


def test_leaving_a_group_counts_on_the_next_request_of_the_same_session() -> None:
    """Groups are flat here (ADR 0018): whoever is among the interns is put into both."""
    case = Case("acl-group-change")
    team, interns = (Group.objects.create(name=name) for name in ("people-team", "interns"))
    LabelGrant.objects.create(label=factories.label("hr"), group=team)
    ivo = factories.user("ivo")
    ivo.groups.add(interns, team)
    api = signed_in(ivo)

    results = [_outcome(api, "pay")]
    ivo.groups.remove(team)
    results.append(_outcome(api, "pay"))

    assert results == case.case["expect"]["results"]
