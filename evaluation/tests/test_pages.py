"""The evaluation pages: figures and questions for whoever may read what they rest on."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from documents import access
from documents.tests import factories as policies
from evaluation.models import EvaluationRun
from evaluation.question_sets import save_set
from evaluation.records import LabelledQuestion
from evaluation.tests import factories

pytestmark = pytest.mark.django_db

INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", re.IGNORECASE)
RESTRICTED = ("severance", "61,000", "dismissed director")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(user: User, address: str = "/evaluation/") -> str:
    response = client_of(user).get(address)
    assert response.status_code == 200
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    text = response.content.decode()
    assert not INLINE.search(text)
    return text


def normalised(text: str) -> str:
    """A page without what differs between two runs anyway: ids, times, milliseconds."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    text = re.sub(r"name=\"csrfmiddlewaretoken\" value=\"\w+\"", "", text)
    text = re.sub(r"\d\d\d\d-\d\d-\d\d[T ]\d\d:\d\d[\d:.+]*|UTC", "TIME", text)
    text = re.sub(r"<dt>latency_ms</dt><dd>[^<]*</dd>|[\d,]+ ms\b", "MS", text)
    return re.sub(r"<code>latency_p.*?</tr>", "LATENCY", text, flags=re.DOTALL)


def test_pages_ask_for_a_login() -> None:
    for address in ("/evaluation/", f"/evaluation/{uuid4()}/"):
        response = Client().get(address)
        assert response.status_code == 302
        assert response["Location"].startswith("/login/")


def test_without_a_run_the_page_says_how_to_make_one() -> None:
    assert "manage.py evaluate demo" in page(policies.user())


def test_a_run_shows_every_question_with_answer_refusal_retrieved_and_steps() -> None:
    factories.corpus()
    report = factories.run(gates={"mrr": 0.85})
    text = page(policies.user(labels=["hr"]), f"/evaluation/{report.run_id}/")

    assert text.count("<details") == 4
    assert "61,000 euros" in text
    assert "27 days of annual leave" in text  # the expected quote
    assert re.search(r'href="/sections/[0-9a-f-]{36}/\?as_of=[^"]*#cited"', text)
    assert "below_threshold" in text
    assert f"threshold {settings.GATE_THRESHOLD:.3f}" in text
    assert "≥ 0.85" in text
    for step in ("retrieve", "gate", "generate", "verify"):
        assert f"<li>{step}: " in text
    for name in ("recall@5", "mrr", "ndcg@10", "leaks", "latency_p95_ms"):
        assert f"<code>{name}</code>" in text
    assert "staff note" not in text


def test_a_reader_without_the_label_sees_nothing_of_its_questions() -> None:
    factories.corpus()
    report = factories.run()
    for address in ("/evaluation/", f"/evaluation/{report.run_id}/"):
        text = page(policies.user(), address)
        for word in RESTRICTED:
            assert word not in text.lower()
    assert text.count("<details") == 2
    assert "the 2 questions that you may see" in text


def test_a_page_is_the_same_with_and_without_what_its_reader_may_not_see() -> None:
    reader = policies.user()
    policies.published(factories.LEAVE, policy_slug="leave", title="Leave policy")
    bare = factories.run(factories.DAYS, factories.OFF_TOPIC)
    before = page(reader, f"/evaluation/{bare.run_id}/")
    policies.published(
        factories.PAY, policy_slug="severance", title="Severance policy", labels=("hr",)
    )
    full = factories.run(*factories.QUESTIONS)
    after = page(reader, f"/evaluation/{full.run_id}/")

    assert normalised(after) == normalised(before)


def test_a_run_of_which_nothing_may_be_seen_looks_like_none() -> None:
    factories.corpus()
    report = factories.run(factories.SEVERANCE)
    reader = policies.user()

    assert report.run_id not in page(reader)
    hidden = client_of(reader).get(f"/evaluation/{report.run_id}/")
    missing = client_of(reader).get(f"/evaluation/{uuid4()}/")
    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert report.run_id in page(policies.user(labels=["hr"]))


def test_figures_are_those_of_the_visible_questions() -> None:
    factories.corpus()
    wrong = LabelledQuestion(
        "wrong", "How many days of leave do staff receive?", answerable=True, terms=("99 days",)
    )
    report = factories.run(factories.SEVERANCE, wrong)

    def accuracy(user: User) -> str:
        text = page(user, f"/evaluation/{report.run_id}/")
        found = re.search(r'<code>answer_accuracy</code>.*?class="number">([\d.]+)', text, re.S)
        assert found is not None
        return found[1]

    assert accuracy(policies.user()) == "0.000"
    assert accuracy(policies.user(labels=["hr"])) == "0.500"


def test_only_the_failed_questions_can_be_shown() -> None:
    factories.corpus()
    wrong = LabelledQuestion("wrong", "Who calls the line manager?", True, terms=("nobody",))
    report = factories.run(factories.DAYS, wrong)
    address = f"/evaluation/{report.run_id}/"
    assert page(policies.user(), address).count("<details") == 2
    text = page(policies.user(), f"{address}?show=failed")
    assert text.count("<details") == 1
    assert 'id="q-wrong"' in text


def test_hostile_questions_are_text() -> None:
    policies.label()
    hostile = LabelledQuestion("<b>", "<script>alert(1)</script> & <img src=x>", answerable=False)
    report = factories.run(hostile)
    text = page(policies.user(), f"/evaluation/{report.run_id}/")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_an_unfinished_run_and_a_failed_question_are_named() -> None:
    policies.label()
    report = factories.run(LabelledQuestion("long", "x" * 2000, answerable=False))
    text = page(policies.user(), f"/evaluation/{report.run_id}/")
    assert "invalid_question" in text
    with access.editing():
        EvaluationRun.objects.update(finished_at=None)
    assert "not finished" in page(policies.user())


def test_the_admin_shows_sets_and_runs_and_changes_nothing() -> None:
    factories.corpus()
    save_set(factories.QUESTIONS, name="small")
    report = factories.run()
    admin = client_of(policies.user(is_staff=True, is_superuser=True))
    for model in ("questionset", "evaluationrun"):
        listed = admin.get(f"/admin/evaluation/{model}/")
        assert listed.status_code == 200
        found = re.search(rf"/admin/evaluation/{model}/(\d+)/change/", listed.content.decode())
        assert found is not None
        detail = admin.get(found[0])
        assert detail.status_code == 200
        assert 'name="_save"' not in detail.content.decode()
        assert admin.get(f"/admin/evaluation/{model}/add/").status_code == 403
        assert admin.post(found[0].replace("change", "delete")).status_code == 403
    assert f"/evaluation/{report.run_id}/" in detail.content.decode()
    staff = client_of(policies.user(is_staff=True, groups=["policy owner", "administrator"]))
    assert staff.get("/admin/evaluation/evaluationrun/").status_code == 403
