"""Writes a world into the database, straight through the models, and fakes the vectors.

The real way in (upload, parsing, approval, indexing) is tested elsewhere and takes a second a
policy; a world takes some 50 milliseconds.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock
from uuid import UUID

import numpy as np
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission, User
from pgvector import HalfVector

from documents import access, embedding, pipeline, vectors
from documents.ingestion import layout, store
from documents.models import (
    AccessLabel,
    Chunk,
    ChunkTerms,
    Finding,
    LabelGrant,
    ManagedDepartment,
    PageLayout,
    Policy,
    PolicyVersion,
    Section,
    SectionText,
    VersionDetail,
)
from documents.models.chunk import EMBEDDING_DIMENSION
from documents.records import Severity, WordBox
from evaluation.metrics.summary import LEAKS, SHARES
from evaluation.models import EvaluationRun, RunResult
from qa import keys
from tests.worlds import model, shapes
from tests.worlds.shapes import Version, World

PROMPT_WORDS = "Staff receive {n} days of annual leave each year under {word}."
_SCORED = ("latency_ms", "cost_usd", "is_answered")
_BOX = (10.0, 10.0, 20.0, 20.0)


@dataclass(frozen=True)
class Answered:
    """An answer on record: whose, for which day, and what it rests on and told."""

    person: str
    day: int
    public_id: str
    texts: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True)
class Result:
    """A question of an evaluation run: its own word, its day, and what it rests on."""

    word: str
    day: int
    texts: frozenset[str]


@dataclass
class Built:
    """Where each part of a world is in the database."""

    today: datetime.date
    model: str = ""  # the name of the embedding model that vectors are said to be of
    users: dict[str, User] = field(default_factory=dict)
    labels: dict[str, AccessLabel] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)  # what a program sends
    policies: dict[str, int] = field(default_factory=dict)  # by slug
    versions: dict[tuple[str, int], int] = field(default_factory=dict)
    version_ids: dict[tuple[str, int], UUID] = field(default_factory=dict)
    sections: dict[str, tuple[int, UUID]] = field(default_factory=dict)  # by word
    chunks: dict[str, int] = field(default_factory=dict)  # by word
    loose: dict[tuple[str, int], int] = field(default_factory=dict)
    classes: dict[frozenset[str], int] = field(default_factory=dict)
    answers: list[Answered] = field(default_factory=list)
    run: UUID | None = None
    results: list[Result] = field(default_factory=list)

    def class_of(self, slugs: frozenset[str]) -> int:
        if slugs not in self.classes:
            self.classes[slugs] = access.class_for(self.labels[slug] for slug in slugs).pk
        return self.classes[slugs]

    def day(self, offset: int) -> datetime.date:
        return self.today + datetime.timedelta(days=offset)


def vector(text: str) -> np.ndarray:
    """A vector of length 1 that hangs on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    raw = np.random.default_rng(seed).standard_normal(EMBEDDING_DIMENSION)
    return (raw / np.linalg.norm(raw)).astype(np.float32)


@contextmanager
def fake_vectors() -> Iterator[None]:
    """No model in this process: one vector for all questions, words counted by blanks."""

    def similarity(question: str, sentences: Sequence[str], language: str | None) -> list[float]:
        return [0.8 for _ in sentences]

    with (
        mock.patch.object(embedding, "encode_query", return_value=vector("question")),
        mock.patch.object(embedding, "similarity", similarity),
        mock.patch.object(embedding, "count_tokens", lambda text: len(text.split())),
    ):
        yield


def build(world: World) -> Built:
    """All of a world, in the transaction that is open."""
    with access.editing():
        made = Built(access.today(), vectors.active().spec.name)
        _labels(world, made)
        _people(world, made)
        add_policies(world, made, world.policies)
        _run(world, made)
    for key in world.keys.values():
        labels = sorted(key.labels) if key.labels is not None else None
        owner, scopes = made.users[key.owner], ["ask", "read"]
        made.keys[key.name] = keys.create_key(owner, name=key.name, scopes=scopes, labels=labels)
    return made


def _labels(world: World, made: Built) -> None:
    roles = {True: AccessLabel.Role.AUDIENCE, False: AccessLabel.Role.RESTRICTION}
    rows = [
        AccessLabel(
            slug=label.slug,
            name=label.slug,
            role=roles[label.is_audience],
            hosted_model_allowed=label.hosted,
        )
        for label in world.labels.values()
    ]
    made.labels = {row.slug: row for row in AccessLabel.objects.bulk_create(rows)}


def _people(world: World, made: Built) -> None:
    model_of_user = get_user_model()
    rows = [
        model_of_user(
            username=person.name,
            password="!",
            is_active=person.is_active,
            is_staff=person.is_staff,
            is_superuser=person.is_superuser,
        )
        for person in world.people.values()
    ]
    made.users = {row.username: row for row in model_of_user.objects.bulk_create(rows)}
    groups = Group.objects.bulk_create([Group(name=name) for name in world.groups])
    made.groups = {group.name: group for group in groups}
    for name, person in world.people.items():
        wanted = [made.groups[group].pk for group in person.groups]
        if person.staff_group:
            wanted.append(Group.objects.get(name=person.staff_group).pk)
        made.users[name].groups.set(wanted)
        if person.reads_ahead:
            ahead = Permission.objects.get(codename="read_scheduled")
            made.users[name].user_permissions.add(ahead)
    ManagedDepartment.objects.bulk_create(
        ManagedDepartment(user=made.users[name], department=department)
        for name, person in world.people.items()
        for department in person.departments
    )
    _grants(world, made)


def _grants(world: World, made: Built) -> None:
    to_groups = [
        LabelGrant(label=made.labels[slug], group=made.groups[group])
        for group, slugs in world.groups.items()
        for slug in slugs
    ]
    to_people = [
        LabelGrant(label=made.labels[slug], user=made.users[name])
        for name, person in world.people.items()
        for slug in person.labels
    ]
    LabelGrant.objects.bulk_create(to_groups + to_people)


def add_policies(world: World, made: Built, policies: Sequence[shapes.Policy]) -> None:
    """Policies of a world with all their versions; inside `editing`."""
    rows = [
        Policy(
            slug=policy.slug,
            title=policy.title,
            contact=policy.contact,
            category=policy.category,
            department=policy.department,
            language="en",
        )
        for policy in policies
    ]
    for row in Policy.objects.bulk_create(rows):
        made.policies[row.slug] = row.pk
    by_slug = {row.slug: row for row in rows}
    pairs = [(policy, version) for policy in policies for version in policy.versions]
    versions = PolicyVersion.objects.bulk_create(
        PolicyVersion(
            policy=by_slug[policy.slug],
            number=version.number,
            effective=_range(made, version),
            state=version.state,
            media_type="application/pdf" if version.has_pages else "text/markdown",
            language="en",
        )
        for policy, version in pairs
    )
    through = PolicyVersion.labels.through
    through.objects.bulk_create(
        through(policyversion_id=row.pk, accesslabel_id=made.labels[slug].pk)
        for row, (_, version) in zip(versions, pairs, strict=True)
        for slug in version.labels
    )
    written = [
        _Written(world, made, policy, version, row)
        for row, (policy, version) in zip(versions, pairs, strict=True)
    ]
    _write(made, written)


def _range(made: Built, version: Version) -> tuple[datetime.date, datetime.date | None]:
    end = None if version.last is None else made.day(version.last + 1)
    return made.day(version.first), end


def _run(world: World, made: Built) -> None:
    """An evaluation run with a question about each version that was published."""
    run = EvaluationRun.objects.create(set_name="world", answerer="extractive", code_version="0")
    made.run = run.public_id
    names = shapes.words(20_000)
    rows: list[RunResult] = []
    for policy in world.policies:
        for version in policy.versions:
            place = next((i for i, x in enumerate(version.sections) if x.chunks), 0)
            section = version.sections[place]
            word, texts = next(names), frozenset(chunk.word for chunk in section.chunks)
            made.results.append(Result(word, version.first, texts))
            slugs = frozenset(label.slug for label in model.labels_at(world, version, place))
            found = Chunk.objects.filter(pk__in=[made.chunks[text] for text in texts])
            rows.append(
                RunResult(
                    run=run,
                    ordinal=len(rows),
                    key=word,
                    question=f"What of {word}?",
                    answerable=True,
                    as_of=made.day(version.first),
                    status="refused",
                    passed=True,
                    scores=dict.fromkeys((*SHARES, LEAKS, *_SCORED), 1.0),
                    needed_classes=[made.class_of(slugs)],
                    chunk_ids=list(found.values_list("public_id", flat=True)),
                )
            )
    RunResult.objects.bulk_create(rows)


class _Written:
    """The rows of one version, its text laid out as a parser would."""

    def __init__(
        self, world: World, made: Built, policy: shapes.Policy, version: Version, row: PolicyVersion
    ) -> None:
        self.world, self.made, self.version, self.row = world, made, version, row
        made.versions[policy.slug, version.number] = row.pk
        made.version_ids[policy.slug, version.number] = row.public_id
        self.text = ""
        self.spans: dict[str, tuple[int, int]] = {}
        self.sections: list[Section] = []
        self.chunks: list[tuple[Chunk, shapes.Chunk]] = []
        for place, section in enumerate(version.sections):
            self._section(place, section)
        self.detail = self._detail()

    def _add(self, word: str, text: str) -> tuple[int, int]:
        start = len(self.text)
        self.text += text + "\n\n"
        self.spans[word] = start, start + len(text)
        return self.spans[word]

    def _section(self, place: int, section: shapes.Section) -> None:
        parent = self.sections[section.parent] if section.parent is not None else None
        heading = f"Leave {section.word}"
        start, end = self._add(section.word, f"{place + 1} {heading}")
        row = Section(
            version=self.row,
            ordinal=place,
            level=parent.level + 1 if parent else 1,
            number=str(place + 1),
            title=heading,
            display_title=heading,
            path=[*(parent.path if parent else ()), f"{place + 1} {heading}"],
            start=start,
            body_start=end,
            end=end,
        )
        self.sections.append(row)
        own_labels = model.labels_at(self.world, self.version, place)
        class_id = self.made.class_of(frozenset(label.slug for label in own_labels))
        for chunk in section.chunks:
            self._chunk(place, section, chunk, class_id)
        row.end = len(self.text)

    def _chunk(
        self, place: int, section: shapes.Section, chunk: shapes.Chunk, class_id: int
    ) -> None:
        text = PROMPT_WORDS.format(n=20 + len(self.chunks), word=chunk.word)
        is_last = chunk is section.chunks[-1]
        named = f" See section {section.refers_to}." if section.refers_to is not None else ""
        text += named if is_last else ""
        start, end = self._add(chunk.word, text)
        references = []
        if is_last and named:
            target, label = section.refers_to, str(section.refers_to)
            begin = end - len(named) + 1
            references = [{"start": begin, "end": end - 1, "target": target, "label": label}]
        is_shown = self.version.state == "published" and chunk.state in model.READABLE
        last = self.version.last
        row = Chunk(
            version=self.row,
            section=self.sections[place],
            ordinal=len(self.chunks),
            text=text,
            start=start,
            end=end,
            pages=[chunk.page] if chunk.page else [],
            page_starts=[start] if chunk.page else [],
            references=references,
            kind="general",
            state=chunk.state,
            access_class_id=class_id,
            effective_from=self.made.day(self.version.first) if is_shown else None,
            effective_to=datetime.date.max if last is None else self.made.day(last),
            token_count=len(text.split()),
            embedding=HalfVector(vector(text)),
            embedding_model=self.made.model,
        )
        self.chunks.append((row, chunk))

    def _detail(self) -> VersionDetail:
        version = self.version
        data = f"%PDF-fake\n{self.row.public_id}\n{self.text}".encode()
        return VersionDetail(
            version=self.row,
            file_sha256=hashlib.sha256(data).hexdigest(),
            file_name=f"{version.file_word}.{'pdf' if version.has_pages else 'md'}",
            file_size_bytes=len(data),
            canonical_text=self.text,
            hidden_text=[{"where": "white", "text": "hidden"}] if version.hides_text else [],
            chunk_count=len(self.chunks),
            section_count=len(self.sections),
        )

    def save_file(self) -> None:
        data = f"%PDF-fake\n{self.row.public_id}\n{self.text}".encode()
        path = store.path_of(settings.FILES_DIR, self.detail.file_sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def pages(self) -> list[PageLayout]:
        rows: list[PageLayout] = []
        for number in sorted(model.pages_of(self.version)):
            version = self.version
            on_page = [x.word for x in version.sections if x.page == number]
            on_page += [chunk.word for chunk in version.chunks if chunk.page == number]
            spans = sorted(self.spans[word] for word in on_page)
            words = [word for start, end in spans for word in self._words(start, end)]
            rows.append(
                PageLayout(
                    version=self.row,
                    number=number,
                    width=600.0,
                    height=300.0,
                    start=spans[0][0],
                    end=spans[-1][1],
                    words=layout.pack(words),
                )
            )
        return rows

    def _words(self, start: int, end: int) -> Iterator[WordBox]:
        at = start
        for word in self.text[start:end].split():
            at = self.text.index(word, at)
            yield WordBox(at, at + len(word), _BOX)
            at += len(word)

    def findings(self) -> Iterator[Finding]:
        decisions = {"quarantined": "pending", "released": "released", "rejected": "rejected"}
        for row, chunk in self.chunks:
            if chunk.state != "ready":
                decision = decisions[chunk.state]
                yield self._finding(row, "body", row.start, row.end, row.text, decision)
        if self.version.loose:
            yield self._finding(None, "metadata", 0, 1, "loose", self.version.loose)

    def _finding(
        self, chunk: Chunk | None, where: str, start: int, end: int, text: str, decision: str
    ) -> Finding:
        return Finding(
            version=self.row,
            chunk=chunk,
            rule="world",
            severity=Severity.BLOCK.value,
            where=where,
            start=start,
            end=end,
            text=text,
            folded=text,
            decision=decision,
        )


def _write(made: Built, written: Sequence[_Written]) -> None:
    sections = [row for one in written for row in one.sections]
    levels = sorted({row.level for row in sections})
    for level in levels:  # parents first: a row must have its key before another names it
        at_level = [row for row in sections if row.level == level]
        for one in written:
            for row, section in zip(one.sections, one.version.sections, strict=True):
                if row.level == level and section.parent is not None:
                    row.parent = one.sections[section.parent]
        Section.objects.bulk_create(at_level)
    _own_labels(made, written)
    SectionText.objects.bulk_create(
        SectionText(section=row, text=one.text) for one in written for row in one.sections
    )
    rows = [row for one in written for row, _ in one.chunks]
    Chunk.objects.bulk_create(rows)
    shown = [row for row in rows if row.effective_from is not None]
    Chunk.objects.filter(pk__in=[row.pk for row in shown]).update(live=True)
    terms = [pipeline.terms_of(row, row.version, today=made.today) for row in shown]
    ChunkTerms.objects.bulk_create(terms)
    VersionDetail.objects.bulk_create(one.detail for one in written)
    PageLayout.objects.bulk_create(page for one in written for page in one.pages())
    findings = Finding.objects.bulk_create(row for one in written for row in one.findings())
    _remember(made, written, findings)


def _own_labels(made: Built, written: Sequence[_Written]) -> None:
    through = Section.labels.through
    through.objects.bulk_create(
        through(section_id=row.pk, accesslabel_id=made.labels[slug].pk)
        for one in written
        for row, section in zip(one.sections, one.version.sections, strict=True)
        for slug in section.labels
    )


def _remember(made: Built, written: Sequence[_Written], findings: Sequence[Finding]) -> None:
    by_version = {row.version_id: row.pk for row in findings if row.chunk_id is None}
    for one in written:
        one.save_file()
        key = one.row.policy.slug, one.version.number
        if one.row.pk in by_version:
            made.loose[key] = by_version[one.row.pk]
        for place, section in zip(one.sections, one.version.sections, strict=True):
            made.sections[section.word] = place.pk, place.public_id
        for row, chunk in one.chunks:
            made.chunks[chunk.word] = row.pk
