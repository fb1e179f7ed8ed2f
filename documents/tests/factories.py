"""Rows with safe defaults; a test sets only what it is about.

Everything goes through the real steps (upload, ingest, approve, embed, publish), called in
this process, so a factory never makes a state that the product could not be in.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from typing import Any
from unittest import mock

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.db import transaction

from documents import access, actions, pipeline
from documents.ingestion import parsers, screen
from documents.ingestion.active import active_findings
from documents.ingestion.chunk import build_chunks
from documents.ingestion.structure import build_sections
from documents.models import AccessLabel, LabelGrant, Policy, PolicyVersion
from documents.records import (
    Block,
    BlockKind,
    ClauseRecord,
    MediaType,
    PageRecord,
    ParsedDocument,
    ProcessedDocument,
    ReferenceRecord,
    WordBox,
)

_numbers = itertools.count(1)

DEFAULT_TEXT = (
    "# Leave policy\n\n## 1 Annual leave\n\nStaff receive 27 days of annual leave each year.\n"
)


def label(slug: str = "all-staff", *, role: str = "audience", hosted: bool = True) -> AccessLabel:
    """A label, made if it is new."""
    return AccessLabel.objects.get_or_create(
        slug=slug, defaults={"name": slug, "role": role, "hosted_model_allowed": hosted}
    )[0]


def user(
    username: str = "", *, labels: Sequence[str] = (), groups: Sequence[str] = (), **fields: object
) -> User:
    """A person with a password (`pass-<username>`) and these labels."""
    name = username or f"person{next(_numbers)}"
    person = get_user_model().objects.create_user(
        name, f"{name}@example.com", f"pass-{name}", **fields
    )
    person.groups.set(Group.objects.filter(name__in=groups))
    for slug in labels:
        LabelGrant.objects.create(label=label(slug), user=person)
    return person


def received(text: str | bytes = DEFAULT_TEXT, **fields: Any) -> PolicyVersion:
    """A version that was uploaded and not yet read."""
    label()
    slug = str(fields.pop("policy_slug", "") or f"policy-{next(_numbers)}")
    given = actions.Upload(
        data=text.encode() if isinstance(text, str) else text,
        file_name=str(fields.pop("file_name", f"{slug}.md")),
        policy_slug=slug,
        title=str(fields.pop("title", slug.replace("-", " ").capitalize())),
        labels=tuple(fields.pop("labels", ("all-staff",))),
        effective_from=fields.pop("effective_from", datetime.date(2024, 1, 1)),
        **fields,
    )
    for slug_ in given.labels:
        label(slug_)
    result = actions.upload(given, actor=None)
    return version(result.version_id)


def version(pk: int) -> PolicyVersion:
    """A fresh copy of a version, readable outside `editing`."""
    with access.editing():
        return PolicyVersion.objects.select_related("policy", "detail").get(pk=pk)


def parsed(text: str | bytes = DEFAULT_TEXT, **fields: Any) -> PolicyVersion:
    """A version that awaits approval (or was held, or failed)."""
    made = received(text, **fields)
    # In this process: a child for each row that a test needs would take most of its time.
    with mock.patch.object(pipeline, "read_confined", _parse_here):
        pipeline.ingest_version(made.pk)
    return version(made.pk)


def _parse_here(data: bytes, *, file_name: str, **_: object) -> ParsedDocument:
    return parsers.parse(data, file_name=file_name)


def index(version_id: int) -> PolicyVersion:
    """Embed and publish an approved version, as the workers do."""
    pipeline.index_here(version_id)
    return version(version_id)


def published(text: str | bytes = DEFAULT_TEXT, **fields: Any) -> PolicyVersion:
    """A version that readers with its labels can read."""
    made = parsed(text, **fields)
    actions.approve_version(made.pk, reviewer=None)
    return index(made.pk)


def policy(slug: str) -> Policy:
    """A policy, readable outside `editing`."""
    with access.editing(), transaction.atomic():
        return Policy.objects.get(slug=slug)


PAGE_WIDTH, PAGE_HEIGHT = 600.0, 300.0
_LEFT, _FIRST_LINE, _LINE = 40.0, 40.0, 24.0
_LETTER = 7.2  # of Courier at 12 points


def pdf(pages: Sequence[Sequence[str]], **fields: Any) -> tuple[bytes, ParsedDocument]:
    """A PDF with these lines on its pages, and the document that a parser finds in it.

    A line that begins with `#` is a heading. Courier is used, so that boxes are exact.
    """
    text, blocks, records = "", [], []
    for number, lines in enumerate(pages, 1):
        words = []
        for row, line in enumerate(lines):
            shown, level = line.lstrip("# "), len(line) - len(line.lstrip("#"))
            text += "\n\n" if text else ""
            start = len(text)
            text += shown
            kind = BlockKind.HEADING if level else BlockKind.PARAGRAPH
            blocks.append(Block(kind, start, len(text), level=level or None, page=number))
            words += _words(shown, start, _FIRST_LINE + row * _LINE)
        records.append(PageRecord(number, PAGE_WIDTH, PAGE_HEIGHT, tuple(words)))
    parsed = ParsedDocument(
        MediaType.PDF, text, tuple(blocks), language="en", pages=tuple(records), **fields
    )
    return _pdf_bytes(pages), parsed


def _words(line: str, start: int, base: float) -> list[WordBox]:
    """The words of a line that stands on `base`, counted from the page's upper edge."""
    found, at = [], 0
    for word in line.split():
        at = line.index(word, at)
        left = _LEFT + at * _LETTER
        box = (left, base - 9.0, left + len(word) * _LETTER, base + 3.0)
        found.append(WordBox(start + at, start + at + len(word), box))
        at += len(word)
    return found


def _pdf_bytes(pages: Sequence[Sequence[str]]) -> bytes:
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b""]
    kids = []
    for lines in pages:
        drawn = []
        for row, line in enumerate(lines):
            words = line.lstrip("# ").replace("\\", "").replace("(", "\\(").replace(")", "\\)")
            height = PAGE_HEIGHT - _FIRST_LINE - row * _LINE
            drawn.append(f"BT /F1 12 Tf {_LEFT} {height} Td ({words}) Tj ET")
        stream = "\n".join(drawn).encode("latin-1", "replace")
        kids.append(len(objects) + 1)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE_WIDTH:.0f} {PAGE_HEIGHT:.0f}]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects) + 2} 0 R >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects[1] = (
        f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{k} 0 R' for k in kids)}] >>"
    ).encode()
    objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
    body, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (size, table, size, len(body))
    )


def stored(
    data: bytes,
    document: ParsedDocument,
    *,
    clauses: Sequence[ClauseRecord] = (),
    references: Sequence[ReferenceRecord] = (),
    skip_after: int | None = None,
    **fields: Any,
) -> PolicyVersion:
    """A version that awaits approval with what a parser found, without running that parser.

    Passages that reach beyond `skip_after` are left out, as a fault would.
    """
    fields.setdefault("file_name", "policy.pdf")
    return stored_again(
        received(data, **fields),
        document,
        clauses=clauses,
        references=references,
        skip_after=skip_after,
    )


def stored_again(
    made: PolicyVersion,
    document: ParsedDocument,
    *,
    clauses: Sequence[ClauseRecord] = (),
    references: Sequence[ReferenceRecord] = (),
    skip_after: int | None = None,
) -> PolicyVersion:
    """The same for a version that waits to be read."""
    job = pipeline._claim(made.pk)
    assert job is not None
    sections = build_sections(document, fallback_title=made.policy.title)
    chunks = build_chunks(document, sections, count_tokens=lambda text: len(text.split()))
    if skip_after is not None:
        chunks = tuple(chunk for chunk in chunks if chunk.end <= skip_after)
    findings = screen.screen_document(document, sections, chunks, "", "") + active_findings(
        document
    )
    processed = ProcessedDocument(
        document, sections, chunks, findings, tuple(clauses), tuple(references)
    )
    pipeline._store(job, processed)
    return version(made.pk)


def published_pdf(pages: Sequence[Sequence[str]], **fields: Any) -> PolicyVersion:
    """A PDF that readers with its labels can read."""
    more = {
        key: fields.pop(key) for key in ("hidden", "active_content", "warnings") if key in fields
    }
    data, document = pdf(pages, **more)
    made = stored(data, document, file_name=fields.pop("file_name", "policy.pdf"), **fields)
    actions.approve_version(made.pk, reviewer=None)
    return index(made.pk)
