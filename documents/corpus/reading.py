"""Reads an archive back: all of it in one transaction, or nothing.

The whole archive is proved before the first row is written: format, checksums, model, audit
trail. Then what would meet with something that is there already is listed, all at once. Rows
are read in batches, so memory stays flat, and every value is what it was, times included.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from documents import access, audit
from documents.corpus import rows as table_rows
from documents.corpus import trail
from documents.corpus.conflicts import conflicts
from documents.corpus.tables import NEAR_DUPLICATES, TABLES, VECTORS
from documents.corpus.writing import FORMAT, FORMAT_VERSION, MANIFEST
from documents.errors import ValidationProblem
from documents.ingestion import store
from documents.models import ForeignChain

_BLOCK = 1024 * 1024
_MANIFEST_BYTES = 64 * _BLOCK
_MEMBER = re.compile(
    r"tables/[a-z]+\.jsonl|files/[0-9a-f]{64}"
    r"|audit/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl"
)


@dataclass(slots=True)
class Imported:
    """What an import brought in."""

    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    new_people: list[str] = field(default_factory=list)  # made without a way to log in


class Source:
    """An archive that was opened, with what its manifest says."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self._zip = zip_file
        self.manifest = self._read_manifest()
        self.members: dict[str, dict[str, Any]] = self.manifest["members"]

    def _read_manifest(self) -> dict[str, Any]:
        try:
            info = self._zip.getinfo(MANIFEST)
            with self._zip.open(info) as stream:
                manifest = json.loads(stream.read(_MANIFEST_BYTES))
            is_ours = manifest["format"] == FORMAT and isinstance(manifest["members"], dict)
        except (KeyError, TypeError, ValueError) as error:
            raise _not_ours() from error
        if not is_ours:
            raise _not_ours()
        if manifest.get("format_version") != FORMAT_VERSION:
            raise ValidationProblem(
                f"The archive has format {manifest.get('format_version')}, and this version of "
                f"legalqa reads format {FORMAT_VERSION}. Nothing was changed. Import it with the "
                "version that wrote it, update that installation, and export it again.",
                code="bad_archive",
            )
        return dict(manifest)

    def prove(self) -> None:
        """Compare every member with its checksum.

        Raises:
            ValidationProblem: one differs, is missing, or is of no kind known here.
        """
        there = {info.filename for info in self._zip.infolist()} - {MANIFEST}
        if there != self.members.keys():
            odd = sorted(there ^ self.members.keys())
            raise _damaged(f"{odd[0]} is in the archive or in its manifest, not in both")
        for name, facts in self.members.items():
            if not _MEMBER.fullmatch(name):
                raise _damaged(f"{name[:80]} is of no kind known here")
            digest = hashlib.sha256()
            for block in self.blocks(name):
                digest.update(block)
            is_named_after = not name.startswith("files/") or name[6:] == facts["sha256"]
            if digest.hexdigest() != facts["sha256"] or not is_named_after:
                raise _damaged(f"{name} is not what its checksum says")

    def blocks(self, name: str) -> Iterator[bytes]:
        """The bytes of a member, no more than its manifest says."""
        left = int(self.members[name]["bytes"])
        with self._zip.open(name) as stream:
            while block := stream.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise _damaged(f"{name} is longer than its manifest says")
                yield block

    def lines(self, name: str) -> Iterator[str]:
        """The lines of a member; none where the archive has no such member."""
        if name not in self.members:
            return
        with self._zip.open(name) as stream:
            for line in stream:
                yield line.decode().removesuffix("\n")

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a member of JSON lines."""
        return map(json.loads, self.lines(name))

    def named(self, folder: str) -> list[str]:
        """The names of the members of a folder, without it."""
        return [name.removeprefix(folder) for name in self.members if name.startswith(folder)]


def import_corpus(
    path: Path, *, with_grants: bool = False, with_vectors: bool = True, with_audit: bool = True
) -> Imported:
    """Bring the corpus of an archive in; everything or nothing.

    Args:
        path: the archive.
        with_grants: also who holds which label and looks after which department.
        with_vectors: also the vectors; without them, `reindex` makes new ones.
        with_audit: also the audit trails, kept apart from the own one.

    Raises:
        ValidationProblem: no archive of ours, damaged, of another format or model, or it meets
            with what is there already. Nothing is changed.
    """
    with _opened(path) as source:
        source.prove()
        trails = source.named("audit/") if with_audit else []
        trails = [name for name in trails if name != f"{trail.own_name()}.jsonl"]  # it is here
        for name in trails:
            trail.verify_foreign(name.removesuffix(".jsonl"), source.lines(f"audit/{name}"))
        with _files_of(source) as count, access.editing():
            found = conflicts(source, with_vectors=with_vectors)
            if found:
                raise _meets_with(found)
            imported = Imported(files=count)
            _read(source, imported, with_grants=with_grants, with_vectors=with_vectors)
            for name in trails:
                _take_over(source, name)
            _record(source, imported)
    return imported


@contextmanager
def _opened(path: Path) -> Iterator[Source]:
    try:
        with zipfile.ZipFile(path) as zip_file:
            yield Source(zip_file)
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise _not_ours() from error
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(f"a row cannot be read ({type(error).__name__}: {error})") from error


def _read(source: Source, imported: Imported, *, with_grants: bool, with_vectors: bool) -> None:
    writer = table_rows.Writer()
    for table in TABLES:
        if with_grants or not table.is_of_people:
            imported.rows[table.member] = writer.write(table, source.rows(table.member))
    writer.write_near_duplicates(source.rows(NEAR_DUPLICATES))
    if with_vectors and source.manifest["model"]:
        model = source.manifest["model"]["name"]
        imported.rows[VECTORS] = writer.write_vectors(model, source.rows(VECTORS))
    imported.new_people = sorted(writer.new_people)


def _take_over(source: Source, name: str) -> None:
    facts = source.members[f"audit/{name}"]
    trail.take_over(
        name.removesuffix(".jsonl"),
        source.lines(f"audit/{name}"),
        rows=facts["rows"],
        sha256=facts["sha256"],
    )


def _record(source: Source, imported: Imported) -> None:
    """Note the import in the own trail, under the hash of what the archive holds."""
    content = json.dumps(source.manifest, sort_keys=True).encode()
    audit.record(
        "corpus_imported",
        ForeignChain(),
        actor=None,
        after={
            "manifest_sha256": hashlib.sha256(content).hexdigest(),
            "rows": sum(imported.rows.values()),
            "files": imported.files,
            "new_people": imported.new_people[:100],
        },
    )


@contextmanager
def _files_of(source: Source) -> Iterator[int]:
    """Put the files where they belong; those that were not there go again if the import fails."""
    new: list[Path] = []
    try:
        for sha256 in source.named("files/"):
            place = store.path_of(settings.FILES_DIR, sha256)
            if not place.exists():
                new.append(place)
            store.save(settings.FILES_DIR, b"".join(source.blocks(f"files/{sha256}")))
        yield len(source.named("files/"))
    except BaseException:
        for place in new:
            place.unlink(missing_ok=True)
        raise


def _not_ours() -> ValidationProblem:
    return ValidationProblem(
        "That is no archive of a corpus, or it was cut short. Give the file that export_corpus "
        "wrote.",
        code="bad_archive",
    )


def _damaged(what: str) -> ValidationProblem:
    return ValidationProblem(
        f"The archive is damaged: {what}. Nothing was changed. Copy it again, or export anew.",
        code="bad_archive",
    )


def _meets_with(found: list[str]) -> ValidationProblem:
    shown = "\n".join(f"- {one}" for one in found[:50])
    more = f"\n… and {len(found) - 50} more" if len(found) > 50 else ""
    return ValidationProblem(
        f"Nothing was imported, because of what is here already:\n{shown}{more}",
        code="conflict",
    )
