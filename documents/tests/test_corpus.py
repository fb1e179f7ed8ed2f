"""A corpus moves whole: every row as it was, the same bytes again, or nothing at all.

Export, empty the database, import, compare: in transactions that are rolled back, so that one
rich corpus serves.
"""

from __future__ import annotations

import datetime
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection

from documents import access, actions, corpus, sealing, vectors
from documents.access import Reader
from documents.corpus import tables, trail, values
from documents.errors import ValidationProblem
from documents.models import (
    AccessClass,
    AllowedDomain,
    AuditEvent,
    Chunk,
    DeletedVersion,
    EmbeddingModel,
    ForeignChain,
    ForeignEvent,
    LabelGrant,
    LabelProposal,
    MirroredFile,
    Policy,
    PolicyVersion,
    Section,
    TermStat,
    VersionDetail,
    VersionState,
)
from documents.tests import factories
from documents.tests.admin.support import POISON
from documents.tests.test_reindexing import FakeModels, models, text_of

pytestmark = pytest.mark.django_db
__all__ = ["models"]  # the fixture of fake models
TODAY = datetime.date(2026, 1, 1)


@pytest.fixture
def rich(models: FakeModels) -> None:
    """Policies in every state, with labels on sections, findings, pages, grants and people."""
    owner = factories.user("olive", labels=("all-staff", "board"), is_staff=True)
    factories.label("secret", role="restriction", hosted=False)
    first = factories.published(text_of("archive"), policy_slug="archive")
    newer = factories.published(
        text_of("new archive", 7), policy_slug="archive", effective_from=TODAY, labels=("board",)
    )
    with access.editing():
        Policy.objects.filter(pk=first.policy_id).update(owner=owner, department="HR")
        section = Section.objects.filter(version=newer).order_by("ordinal")[2]
    actions.set_section_labels(section.pk, ["secret"], actor=owner)
    held = factories.parsed(f"# Notes\n\n## 1 A\n\n{POISON}\n\n## 2 B\n\nFine.\n")
    with access.editing():
        chunk = Chunk.objects.get(version=held, state=Chunk.State.QUARANTINED)
    actions.decide_chunk(chunk.pk, release=True, reviewer=owner, note="Quoted as an example.")
    factories.published_pdf([["# Travel", "Trains are booked by the office."], ["# Two", "x y"]])
    gone = factories.published(text_of("old"))
    actions.withdraw_version(gone.pk, actor=owner, note="In error.")
    factories.published(text_of("archive"), policy_slug="archive-copy")  # nearly the same
    _rows_beside(owner, first)
    sealing.seal()


def _rows_beside(owner: Any, version: PolicyVersion) -> None:
    with access.editing():
        section = Section.objects.filter(version=version).order_by("ordinal")[1]
        AllowedDomain.objects.create(host="example.org", reason="ours", added_by=owner)
        DeletedVersion.objects.create(policy=version.policy, number=9)
        MirroredFile.objects.create(
            mirror="handbook",
            path="a/b.md",
            policy=version.policy,
            sha256="0" * 64,
            version=version,
        )
        LabelProposal.objects.create(
            version=version, sections=[section.pk], before=["all-staff"], proposed_by=owner
        )


def dump() -> dict[str, list[dict[str, Any]]]:
    """Every row of the corpus, ids apart; of the statistics, what they add up to."""
    with access.editing():
        found = {
            table.member: [_plain(table, row) for row in table.rows()] for table in tables.TABLES
        }
        found["near"] = [
            {"near": sorted(_near(detail))}
            for detail in VersionDetail.objects.order_by("version__public_id")
        ]
        index = vectors.live()
        found["vectors"] = [
            {"chunk": str(public_id), "bits": values.vector_written(vector), "live": live}
            for public_id, vector, live in Chunk.objects.filter(embedding__isnull=False)
            .order_by("public_id")
            .values_list("public_id", "embedding", "live")
        ]
        found["model"] = [{"name": index.spec.name}]
        with connection.cursor() as cursor:
            cursor.execute("select documents_compact_term_stats()")
        classes = {row.pk: _slugs(row.key) for row in AccessClass.objects.all()}
        found["statistics"] = [
            {"term": term, "labels": classes[of], "df": df}
            for term, of, df in sorted(
                TermStat.objects.values_list("term", "access_class", "df"),
                key=lambda row: (row[0], classes[row[1]]),
            )
        ]
        return found


def _slugs(key: list[int]) -> list[str]:
    labels = apps.get_model("documents", "AccessLabel").objects.in_bulk(key)
    return sorted(label.slug for label in labels.values())


def _near(detail: VersionDetail) -> list[tuple[str, float]]:
    ids = {one["version"]: one["share"] for one in detail.near_duplicates}
    return [(str(v.public_id), ids[v.pk]) for v in PolicyVersion.objects.filter(pk__in=ids)]


def _plain(table: tables.Table, row: Any) -> dict[str, Any]:
    made = {c.name: values.written(getattr(row, c.attname)) for c in table.columns}
    for column in table.references:
        target = getattr(row, column.name)
        name = tables.NATURAL[column.related_model] if target is not None else ""
        made[column.name] = str(getattr(target, name)) if target is not None else None
        if column.name == "access_class":
            made[column.name] = str(_slugs(target.key))
    if table.has_labels:
        made["labels"] = row.label_slugs
    for name, model in table.ids_in.items():
        ids = model._default_manager.filter(pk__in=made[name])
        made[name] = sorted(str(one.public_id) for one in ids)  # type: ignore[attr-defined]  # they have one
    return made


def empty() -> None:
    """A new installation: nothing but its tables, its groups and its own audit."""
    with access.editing():
        for model in (LabelGrant, MirroredFile, LabelProposal, AllowedDomain):
            model.objects.all().delete()
        for policy in Policy.objects.all():
            policy.delete()
        EmbeddingModel.objects.all().delete()
        get_user_model().objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute("delete from documents_termdelta")
            cursor.execute("delete from documents_termstat")


def export(folder: Path, name: str = "a.zip", **options: Any) -> Path:
    corpus.export_corpus(folder / name, **{"with_grants": True} | options)
    return folder / name


def counts() -> tuple[int, int, int]:
    with access.editing():
        return (
            Policy.objects.count(),
            ForeignChain.objects.count(),
            get_user_model().objects.count(),
        )


def files(settings: Any) -> set[str]:
    return {path.name for path in settings.FILES_DIR.rglob("*") if path.is_file()}


def test_every_table_is_in_the_archive_or_left_out_for_a_reason():
    models_ = set(apps.get_app_config("documents").get_models())
    listed = [table.model for table in tables.TABLES]

    assert len(listed) == len(set(listed))
    assert set(listed) | tables.LEFT_OUT == models_
    assert not set(listed) & tables.LEFT_OUT


def test_a_corpus_comes_back_row_by_row_and_a_second_export_has_the_same_bytes(
    rich, tmp_path, settings
):
    before, stored = dump(), files(settings)
    archive = export(tmp_path, with_audit=False)
    empty()
    settings.FILES_DIR = tmp_path / "elsewhere"

    imported = corpus.import_corpus(archive, with_grants=True)

    after = dump()
    for name, rows in before.items():
        assert after[name] == rows, name
        assert rows or name in ("tables/reviewreminder.jsonl", "tables/manageddepartment.jsonl")
    assert files(settings) == stored
    assert imported.new_people == ["olive"]
    assert not get_user_model().objects.get(username="olive").is_active
    again = export(tmp_path, "b.zip", with_audit=False)
    assert again.read_bytes() == archive.read_bytes()


def test_what_was_readable_is_readable_to_the_same_readers_and_nothing_else(rich, tmp_path):
    def readable(*labels: str) -> set[str]:
        with access.reading_as(Reader.with_labels(labels)):
            return set(Chunk.objects.values_list("text", flat=True))

    readers = [("all-staff",), ("board",), ("board", "secret"), ()]
    before = [readable(*labels) for labels in readers]
    archive = export(tmp_path)
    empty()
    corpus.import_corpus(archive)

    assert [readable(*labels) for labels in readers] == before
    assert len({frozenset(one) for one in before}) == 4


def test_the_own_trail_is_not_taken_over_a_second_time(rich, tmp_path):
    archive = export(tmp_path)
    empty()

    corpus.import_corpus(archive)

    with access.editing():
        assert not ForeignChain.objects.exists()


def test_the_audit_trail_comes_along_apart_and_proves_itself(rich, tmp_path, monkeypatch):
    archive = export(tmp_path)
    own = AuditEvent.objects.count()
    empty()
    monkeypatch.setattr(trail, "own_name", lambda: "00000000-0000-0000-0000-000000000001")

    corpus.import_corpus(archive)

    with access.editing():
        chain = ForeignChain.objects.get()
        lines = list(ForeignEvent.objects.order_by("ordinal").values_list("line", flat=True))
    assert chain.event_count == len(lines) >= own
    assert AuditEvent.objects.filter(action="corpus_imported").count() == 1
    trail.verify_foreign("a", lines)  # raises nothing
    with zipfile.ZipFile(archive) as first, zipfile.ZipFile(export(tmp_path, "b.zip")) as second:
        name = f"audit/{chain.public_id}.jsonl"
        assert second.read(name) == first.read(name)
        assert len([n for n in second.namelist() if n.startswith("audit/")]) == 2
    event = next(n for n, line in enumerate(lines) if '"event":{' in line and '"seal":{' in line)
    altered = [*lines]
    altered[event] = altered[event].replace('"actor_name":"', '"actor_name":"x')
    with pytest.raises(ValidationProblem, match="was altered"):
        trail.verify_foreign("a", altered)
    with pytest.raises(ValidationProblem, match="was altered"):
        trail.verify_foreign("a", lines[:event] + lines[event + 1 :])


def test_what_meets_with_something_here_is_listed_and_nothing_is_changed(rich, tmp_path, settings):
    archive = export(tmp_path)
    before, there, had = dump(), counts(), files(settings)

    with pytest.raises(ValidationProblem) as caught:
        corpus.import_corpus(archive)

    assert caught.value.code == "conflict"
    assert "The policy archive is here already." in caught.value.message
    assert "a/b.md of the mirror handbook" in caught.value.message
    assert (dump(), counts(), files(settings)) == (before, there, had)


def test_a_label_that_means_something_else_here_is_a_conflict(rich, tmp_path):
    archive = export(tmp_path)
    empty()
    with access.editing():
        apps.get_model("documents", "AccessLabel").objects.filter(slug="board").update(
            role="restriction"
        )

    with pytest.raises(ValidationProblem, match="board is here a restriction"):
        corpus.import_corpus(archive)


def test_vectors_of_another_model_are_refused_and_can_be_made_anew(
    rich, tmp_path, settings, models
):
    archive = export(tmp_path)
    empty()
    settings.EMBEDDING_MODEL = "sibling"

    with pytest.raises(ValidationProblem, match="--without-vectors and then run reindex"):
        corpus.import_corpus(archive)
    assert counts()[:2] == (0, 0)
    corpus.import_corpus(archive, with_vectors=False)
    call_command("reindex")

    with access.editing():
        shown = Chunk.objects.filter(effective_from__isnull=False)
        assert shown.exists()
        assert set(shown.values_list("embedding_model", flat=True)) == {"sibling@r1"}


def rewritten(archive: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(archive) as source:
        members = {name: source.read(name) for name in source.namelist()}
    change(members)
    target = archive.with_name("changed.zip")
    with zipfile.ZipFile(target, "w") as made:
        for name, data in members.items():
            made.writestr(name, data)
    return target


def _of_another_version(members: dict[str, bytes]) -> None:
    manifest = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps(manifest | {"format_version": 2}).encode()


def _with_a_changed_row(members: dict[str, bytes]) -> None:
    members["tables/policy.jsonl"] = members["tables/policy.jsonl"].replace(b"HR", b"IT")


def _with_a_changed_file(members: dict[str, bytes]) -> None:
    name = next(name for name in members if name.startswith("files/"))
    members[name] += b"!"


def _without_a_member(members: dict[str, bytes]) -> None:
    del members["tables/chunk.jsonl"]


def _with_another_member(members: dict[str, bytes]) -> None:
    members["../../evil"] = b"x"


def _without_a_manifest(members: dict[str, bytes]) -> None:
    del members["manifest.json"]


DAMAGED = (
    (_of_another_version, "has format 2"),
    (_with_a_changed_row, "policy.jsonl is not what its checksum says"),
    (_with_a_changed_file, "is (longer than|not what)"),
    (_without_a_member, "not in both"),
    (_with_another_member, "not in both"),
    (_without_a_manifest, "no archive of a corpus"),
)


def test_another_format_and_a_damaged_archive_are_refused_and_change_nothing(
    rich, tmp_path, settings
):
    archive = export(tmp_path)
    empty()
    settings.FILES_DIR = tmp_path / "elsewhere"
    there = counts()

    for change, message in DAMAGED:  # one corpus serves all: it takes seconds to make
        with pytest.raises(ValidationProblem, match=message) as caught:
            corpus.import_corpus(rewritten(archive, change))

        assert caught.value.code == "bad_archive"
        assert (counts(), files(settings)) == (there, set())


def test_an_import_that_is_broken_off_leaves_nothing(rich, tmp_path, settings, monkeypatch):
    archive = export(tmp_path)
    empty()
    settings.FILES_DIR = tmp_path / "elsewhere"
    there = counts()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(corpus.reading, "_record", stop)
    with pytest.raises(KeyboardInterrupt):
        corpus.import_corpus(archive)
    assert (counts(), files(settings)) == (there, set())
    monkeypatch.undo()


def test_an_export_that_fails_leaves_no_file_and_none_is_overwritten(rich, tmp_path, settings):
    archive = export(tmp_path)
    with pytest.raises(ValidationProblem, match="exists already"):
        export(tmp_path)
    with access.editing():
        sha256 = VersionDetail.objects.values_list("file_sha256", flat=True)[0]
    (settings.FILES_DIR / sha256[:2] / sha256).unlink()

    with pytest.raises(ValidationProblem, match="Restore it from a backup"):
        export(tmp_path, "b.zip")

    assert [path.name for path in tmp_path.iterdir()] == [archive.name]


def test_the_commands_say_what_they_did(rich, tmp_path, capsys):
    call_command("export_corpus", str(tmp_path / "a.zip"), "--grants")
    assert "policies in" in capsys.readouterr().out
    empty()

    call_command("import_corpus", str(tmp_path / "a.zip"), "--grants")

    said = capsys.readouterr().out
    assert "olive" in said
    with access.editing():
        assert PolicyVersion.objects.filter(state=VersionState.WITHDRAWN).count() == 1
        assert LabelGrant.objects.filter(user__username="olive").count() == 2
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_corpus", str(tmp_path / "missing.zip"))
