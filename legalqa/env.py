"""Typed readers of environment variables, used by `settings.py` alone.

A variable that is missing without a default, or that does not hold what it should, stops the
start and names itself. An empty variable counts as unset, which is what `docker compose` and
`.env` files make of a line without a value.
"""

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class _Required:
    """The type of the default that means there is none."""


REQUIRED: Final = _Required()


class EnvironmentVariableError(ImproperlyConfigured):
    """A variable is missing or invalid; the message names it and what it should hold."""


def text(name: str, *, default: str | _Required = REQUIRED, keep_empty: bool = False) -> str:
    """The variable as it is, without white space around it.

    Args:
        name: the variable.
        default: what an unset variable means.
        keep_empty: an empty variable is the empty text, for settings that empty turns off.

    Raises:
        EnvironmentVariableError: it is unset and has no default.
    """
    value = _value(name)
    if value or (keep_empty and name in os.environ):
        return value
    if isinstance(default, _Required):
        raise EnvironmentVariableError(f"Set the environment variable {name}; it has no default.")
    return default


def number(name: str, *, default: int | _Required = REQUIRED) -> int:
    """A whole number; underscores may group its digits.

    Raises:
        EnvironmentVariableError: it is unset and has no default, or is not a whole number.
    """
    if not _value(name) and not isinstance(default, _Required):
        return default
    value = text(name)
    try:
        return int(value)
    except ValueError as error:
        raise _invalid(name, value, "a whole number, such as 60") from error


def real(name: str, *, default: float | _Required = REQUIRED) -> float:
    """A finite number with a decimal point.

    Raises:
        EnvironmentVariableError: it is unset and has no default, or is not such a number.
    """
    if not _value(name) and not isinstance(default, _Required):
        return default
    value = text(name)
    try:
        found = float(value)
    except ValueError as error:
        raise _invalid(name, value, "a number, such as 0.35") from error
    if found in (float("inf"), float("-inf")) or found != found:
        raise _invalid(name, value, "a finite number, such as 0.35")
    return found


def boolean(name: str, *, default: bool | _Required = REQUIRED) -> bool:
    """True for 1, true, yes or on, false for 0, false, no or off, in any case.

    Raises:
        EnvironmentVariableError: it is unset and has no default, or is another word.
    """
    if not _value(name) and not isinstance(default, _Required):
        return default
    value = text(name).lower()
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise _invalid(name, value, "true or false")


def items(name: str, *, default: Sequence[str] | _Required = REQUIRED) -> list[str]:
    """The parts between commas, white space and empty parts left out.

    Raises:
        EnvironmentVariableError: it is unset and has no default.
    """
    if not _value(name) and not isinstance(default, _Required):
        return list(default)
    return [part.strip() for part in text(name).split(",") if part.strip()]


def choice(name: str, choices: Collection[str], *, default: str | _Required = REQUIRED) -> str:
    """One of `choices`.

    Raises:
        EnvironmentVariableError: it is unset and has no default, or is something else.
    """
    value = text(name, default=default)
    if value not in choices:
        raise _invalid(name, value, f"one of {', '.join(choices)}")
    return value


def path(name: str, *, default: Path | _Required = REQUIRED) -> Path:
    """An absolute path; `~` is the home folder, a relative path starts at the current folder.

    Raises:
        EnvironmentVariableError: it is unset and has no default.
    """
    if not _value(name) and not isinstance(default, _Required):
        return default
    return Path(text(name)).expanduser().absolute()


def database(url: str) -> dict[str, str]:
    """Django's NAME, USER, PASSWORD, HOST and PORT for a `postgresql://` address.

    A unix socket is named by its folder, as libpq does it: `postgresql://user@/name?host=/run`.
    Other parameters are refused rather than ignored: `sslmode` silently lost would be a hole.

    Raises:
        EnvironmentVariableError: the address is not such an address; the message leaves the
            password out.
    """
    parts = urlsplit(url)
    shape = "an address such as postgresql://user:password@host:5432/name"
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise _invalid("DATABASE_URL", _without_password(url), shape)
    parameters = parse_qs(parts.query)
    unknown = sorted(set(parameters) - {"host", "port"})
    if unknown:
        raise EnvironmentVariableError(
            f"DATABASE_URL has parameters that are not read: {', '.join(unknown)}. "
            "Put them into libpq's own variables, such as PGSSLMODE."
        )
    try:
        port = str(parts.port or "")
    except ValueError as error:
        raise _invalid("DATABASE_URL", _without_password(url), shape) from error
    return {
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parameters.get("host", [unquote(parts.hostname or "")])[0],
        "PORT": parameters.get("port", [port])[0],
    }


def _value(name: str) -> str:
    return os.environ.get(name, "").strip()


def _invalid(name: str, value: str, wanted: str) -> EnvironmentVariableError:
    return EnvironmentVariableError(f"{name} is {value!r}, but must be {wanted}.")


def _without_password(url: str) -> str:
    credentials, at, rest = url.rpartition("@")
    if not at:
        return url
    scheme, _, user = credentials.partition("://")
    return f"{scheme}://{user.partition(':')[0]}@{rest}"
