"""How mail leaves, from one address in the environment."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_CONSOLE = "django.core.mail.backends.console.EmailBackend"
_SMTP = "django.core.mail.backends.smtp.EmailBackend"
_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
TIMEOUT_SECONDS = 10


def settings_of(url: str) -> dict[str, Any]:
    """Django's settings for `smtp+tls://user:password@host:587`; without one, the log.

    Args:
        url: `smtp` (plain, for a relay on the same machine), `smtp+tls` (STARTTLS) or `smtps`.

    Raises:
        ImproperlyConfigured: it is no such address.
    """
    if not url:
        return {"EMAIL_BACKEND": _CONSOLE}
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError) as error:
        raise _wrong() from error
    if not parts.hostname:
        raise _wrong()
    return {
        "EMAIL_BACKEND": _SMTP,
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": TIMEOUT_SECONDS,
    }


def _wrong() -> ImproperlyConfigured:
    # Without the value: it may hold a password.
    return ImproperlyConfigured(
        "LEGALQA_MAIL_URL is no address of a mail server. Write it as "
        "smtp+tls://user:password@mail.example.org:587."
    )
