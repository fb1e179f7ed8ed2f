"""T-076 and T-064: guessing is stopped for whoever guesses, and streams are counted."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from redis.exceptions import ConnectionError as RedisDownError

from documents.tests import factories
from qa import guessing, keys, limits
from qa.tests.api import support

pytestmark = pytest.mark.django_db

HERE, ELSEWHERE = "198.51.100.7", "203.0.113.9"


def _log_in(name: str, password: str, *, at: str = HERE, path: str = "/login/") -> bool:
    client = Client(REMOTE_ADDR=at)
    client.post(path, {"username": name, "password": password})
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_after_twenty_wrong_tries_the_right_password_fails_and_others_are_not_touched(
    path: str,
) -> None:
    nora = factories.user("nora", is_staff=True)
    factories.user("olga", is_staff=True)
    assert _log_in("nora", f"pass-{nora.username}", path=path)

    for number in range(20):
        assert not _log_in("nora", f"wrong-{number}", path=path)

    assert not _log_in("nora", "pass-nora", path=path)
    assert _log_in("olga", "pass-olga", path=path)
    assert _log_in("nora", "pass-nora", at=ELSEWHERE, path=path)  # whoever guesses locks out no one


def test_wrong_tries_are_forgotten_once_the_person_signs_in() -> None:
    factories.user("nora")
    for number in range(guessing.MOST_OF_NAME_AND_ADDRESS - 1):
        assert not _log_in("nora", f"wrong-{number}")
    assert _log_in("nora", "pass-nora")
    for number in range(guessing.MOST_OF_NAME_AND_ADDRESS - 1):
        assert not _log_in("nora", f"wrong-{number}")

    assert _log_in("nora", "pass-nora")


def test_many_names_from_one_address_and_one_name_from_many_are_stopped() -> None:
    factories.user("nora")
    for number in range(guessing.MOST_OF_ADDRESS):
        _log_in(f"nobody-{number}", "wrong")
    assert not _log_in("nora", "pass-nora")
    assert _log_in("nora", "pass-nora", at=ELSEWHERE)

    for number in range(guessing.MOST_OF_NAME):
        _log_in("nora", "wrong", at=f"192.0.2.{number}")
    assert not _log_in("nora", "pass-nora", at=ELSEWHERE)


def test_a_locked_name_looks_like_a_wrong_password() -> None:
    factories.user("nora")
    pages = []
    for _ in range(guessing.MOST_OF_NAME_AND_ADDRESS + 2):
        page = Client(REMOTE_ADDR=HERE).post("/login/", {"username": "nora", "password": "wrong"})
        pages.append((page.status_code, [str(e) for e in page.context["form"].non_field_errors()]))

    assert all(page == pages[0] for page in pages)
    assert b"wait a quarter of an hour" in page.content


def test_the_limit_holds_while_redis_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    factories.user("nora")

    def down(*_: object, **__: object) -> None:
        raise RedisDownError

    for name in ("add", "incr", "get", "delete"):
        monkeypatch.setattr(caches[limits.SHARED], name, down)
    for number in range(guessing.MOST_OF_NAME_AND_ADDRESS):
        assert not _log_in("nora", f"wrong-{number}")

    assert not _log_in("nora", "pass-nora")


def test_unknown_keys_from_one_address_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessing, "MOST_KEYS_OF_ADDRESS", 3)
    key = keys.create_key(factories.user(), name="bot", scopes=["read"])

    def ask(key: str, at: str = HERE) -> int:
        headers = {"Authorization": f"Bearer {key}"}
        return int(Client(REMOTE_ADDR=at).get("/api/v1/me", headers=headers).status_code)

    assert [ask("lqa_wrong") for _ in range(4)] == [401, 401, 401, 429]
    assert ask(key) == 429
    assert ask(key, at=ELSEWHERE) == 200


def test_a_person_holds_two_streams_and_no_more(settings: Any) -> None:
    emp, other = support.signed_in(factories.user()), support.signed_in(factories.user())
    body = {"question": "How many days of annual leave are there?"}
    open_streams = [emp.post("ask/stream", body) for _ in range(2)]

    third = emp.post("ask/stream", body)

    assert [stream.status_code for stream in open_streams] == [200, 200]
    assert (third.status_code, third.json()["code"]) == (429, "throttled")
    assert int(third.headers["Retry-After"]) > 0
    settings.STREAMS = 3
    theirs = other.post("ask/stream", body)
    assert theirs.status_code == 200
    assert other.post("ask/stream", body).status_code == 429  # of all together
    for closer in [each for one in (*open_streams, theirs) for each in one._resource_closers]:
        closer()  # what Django does at the end of a request, its database connection apart
    assert emp.post("ask/stream", body).status_code == 200
