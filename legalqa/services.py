"""Which Postgres and Redis this process uses: those it is told of, or the embedded ones.

Settings only need addresses; `ensure_running` starts the embedded services, from the places
where a process begins (manage.py, asgi.py, celery.py, the tests).
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

from legalqa import embedded, env
from legalqa.supervision.layout import layout_from_environment, make_sockets


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the database (as the app and as the owner) and the broker listen."""

    database_url: str
    database_owner_url: str
    redis_url: str
    is_embedded: bool


def addresses() -> Addresses:
    """The addresses from the environment, else those of the embedded services.

    Raises:
        ImproperlyConfigured: only some of the three variables are set.
    """
    if is_embedded():
        return _embedded_addresses()
    return Addresses(
        database_url=env.text("DATABASE_URL"),
        database_owner_url=env.text("DATABASE_OWNER_URL", default=env.text("DATABASE_URL")),
        redis_url=env.text("REDIS_URL"),
        is_embedded=False,
    )


def is_embedded() -> bool:
    """Whether neither `DATABASE_URL` nor `REDIS_URL` is set."""
    return not os.environ.get("DATABASE_URL") and not os.environ.get("REDIS_URL")


def _embedded_addresses() -> Addresses:
    sockets = make_sockets(layout_from_environment())
    base = f"@/legalqa?host={sockets.postgres_folder}"
    return Addresses(
        database_url=f"postgresql://legalqa_app{base}",
        database_owner_url=f"postgresql://legalqa_owner{base}",
        redis_url=f"redis+socket://{sockets.redis}?virtual_host=0",
        is_embedded=True,
    )


def cache_url(redis_url: str) -> str:
    """The cache's database on the broker's server: the one after the broker's.

    Celery and redis-py spell a unix socket differently.
    """
    parts = urlsplit(redis_url)
    if parts.scheme == "redis+socket":
        number = int(parse_qs(parts.query).get("virtual_host", ["0"])[0])
        return f"unix://{parts.path}?db={number + 1}"
    number = int(parts.path.strip("/") or 0)
    return urlunsplit(parts._replace(path=f"/{number + 1}"))


def ensure_running() -> None:
    """Start or join the embedded services, if this process uses them.

    Raises:
        EmbeddedServicesError: they did not become ready.
    """
    if is_embedded():
        embedded.ensure_services()


def secret_key(var_dir: Path) -> str:
    """Django's secret: from the environment; on a trial machine made once and kept.

    Raises:
        ImproperlyConfigured: production (own servers are named) without `DJANGO_SECRET_KEY`.
    """
    if os.environ.get("DJANGO_SECRET_KEY") or not is_embedded():
        return _long_enough(env.text("DJANGO_SECRET_KEY"))
    kept = var_dir / "secret_key"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(kept, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(50))
    return kept.read_text()


def _long_enough(secret: str) -> str:
    if len(secret) < 40 or secret.startswith("change"):
        raise env.EnvironmentVariableError(
            "DJANGO_SECRET_KEY must be at least 40 random characters, such as the output of "
            "python -c 'import secrets; print(secrets.token_urlsafe(50))'."
        )
    return secret
