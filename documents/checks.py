"""System checks of what a type cannot hold: roles, policies, extension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection

PROTECTED_TABLES = (
    "documents_policy",
    "documents_policyversion",
    "documents_versiondetail",
    "documents_section",
    "documents_sectiontext",
    "documents_chunk",
    "documents_chunkterms",
    "documents_termstat",
    "documents_termdelta",
    "documents_finding",
    "documents_uploadbatch",
    "documents_batchitem",
    "documents_mirroredfile",
    "documents_chunkvector",
    "documents_foreignchain",
    "documents_foreignevent",
    "qa_questionrecord",
    "qa_outcomerecord",
    "qa_questiontext",
)

_UNSAFE = ("documents.E002", "documents.E003")
_QUESTION = """
select r.rolsuper or r.rolbypassrls,
       exists (select from pg_class where relname = any (%s)
               and pg_has_role(current_user, relowner, 'member')),
       array(select relname::text from pg_class
             where relname = any (%s) and not (relrowsecurity and relforcerowsecurity)),
       coalesce((select proleakproof from pg_proc where oid = 'pg_catalog.arrayoverlap'::regproc),
                false)
  from pg_roles r where r.rolname = current_user
"""


@register(Tags.database)
def access_is_enforced(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """The application's role can bypass no policy, and every protected table has them."""
    return _found() if databases and not _is_owner() else []


def refuse_unsafe_role() -> None:
    """Stop a process that serves people when its role could bypass the policies.

    Called where web and worker processes begin. A database that is down stops nothing: the
    process answers 503 until it is back, and `doctor` says why.

    Raises:
        ImproperlyConfigured: the role could bypass a policy, or a table lacks its policies.
    """
    unsafe = [message for message in _found() if message.id in _UNSAFE]
    connection.close()
    if unsafe:
        raise ImproperlyConfigured(" ".join(f"{m.msg} {m.hint}" for m in unsafe))


def _found() -> list[CheckMessage]:
    try:
        with connection.cursor() as cursor:
            tables = list(PROTECTED_TABLES)
            cursor.execute(_QUESTION, [tables, tables])
            row = cursor.fetchone()
    except OperationalError as error:
        return [Error(f"The database cannot be reached: {error}", id="documents.E001")]
    return _messages(*row) if row else []


def _is_owner() -> bool:
    return bool(connection.settings_dict["USER"] == settings.DATABASE_OWNER_USER)


def _messages(
    can_bypass: bool, is_owner: bool, unprotected: list[str], is_leakproof: bool
) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if can_bypass or is_owner:
        found.append(
            Error(
                "The application connects with a role that could bypass row-level security.",
                hint="DATABASE_URL must name legalqa_app: not a superuser, not the tables' owner.",
                id="documents.E002",
            )
        )
    if unprotected:
        found.append(
            Error(
                f"Row-level security is not forced on {', '.join(unprotected)}.",
                hint="Run: python manage.py migrate",
                id="documents.E003",
            )
        )
    if not is_leakproof:
        found.append(
            Warning(
                "arrayoverlap is not marked leakproof: lexical search is right, but slower.",
                hint="Run legalqa/bootstrap.sql as a superuser, also after restoring a dump.",
                id="documents.W004",
            )
        )
    return found
