"""Readers of environment variables: what they accept, and how they refuse."""

from pathlib import Path

import pytest

from legalqa import env

NAME = "LEGALQA_TEST_VARIABLE"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)


@pytest.mark.parametrize(
    "reader", [env.text, env.number, env.real, env.boolean, env.items, env.path]
)
def test_missing_variable_without_default_names_itself(reader: object) -> None:
    assert callable(reader)
    with pytest.raises(env.EnvironmentVariableError, match=NAME):
        reader(NAME)


def test_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " ")
    assert env.text(NAME, default="x") == "x"
    assert env.number(NAME, default=3) == 3
    assert env.real(NAME, default=0.5) == 0.5
    assert env.boolean(NAME, default=True) is True
    assert env.items(NAME, default=("a",)) == ["a"]
    assert env.path(NAME, default=Path("/x")) == Path("/x")


def test_empty_variable_may_be_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.text(NAME, default="x", keep_empty=True) == "x"
    monkeypatch.setenv(NAME, "")
    assert env.text(NAME, default="x", keep_empty=True) == ""


@pytest.mark.parametrize(("value", "expected"), [("Yes", True), ("1", True), ("OFF", False)])
def test_boolean_reads_usual_words(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.boolean(NAME) is expected


@pytest.mark.parametrize(
    ("reader", "value"),
    [(env.number, "1.5"), (env.number, "ten"), (env.real, "nan"), (env.boolean, "maybe")],
)
def test_invalid_value_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, reader: object, value: str
) -> None:
    assert callable(reader)
    monkeypatch.setenv(NAME, value)
    with pytest.raises(env.EnvironmentVariableError, match=f"{NAME} is '{value}'"):
        reader(NAME)


def test_choice_lists_what_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "some")
    with pytest.raises(env.EnvironmentVariableError, match="none, any"):
        env.choice(NAME, ("none", "any"), default="any")


def test_items_drop_empty_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "a, b,,")
    assert env.items(NAME) == ["a", "b"]


def test_database_over_a_socket() -> None:
    assert env.database("postgresql://legalqa_app@/legalqa?host=/run/x/pg") == {
        "NAME": "legalqa",
        "USER": "legalqa_app",
        "PASSWORD": "",
        "HOST": "/run/x/pg",
        "PORT": "",
    }


def test_database_over_a_network_with_escaped_password() -> None:
    assert env.database("postgres://app:p%40ss%2F@db.example:6432/policies") == {
        "NAME": "policies",
        "USER": "app",
        "PASSWORD": "p@ss/",
        "HOST": "db.example",
        "PORT": "6432",
    }


@pytest.mark.parametrize(
    "url", ["mysql://u:secret@h/n", "postgresql://u:secret@h", "postgresql://u:secret@h:x/n"]
)
def test_bad_database_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(env.EnvironmentVariableError, match="DATABASE_URL") as refused:
        env.database(url)
    assert "secret" not in str(refused.value)


def test_unread_database_parameter_is_refused() -> None:
    with pytest.raises(env.EnvironmentVariableError, match="sslmode"):
        env.database("postgresql://u@h/n?sslmode=require")
