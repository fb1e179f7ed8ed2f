"""The shared collections of broken, locked and hostile files, each read in the confined child.

No crash, no hang, bounded time and memory, and the outcome that the manifest expects; where we
differ on purpose, `DIFFERENCES` says why, and docs/explanation/hostile-files.md repeats it.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from documents.errors import ParseError
from documents.ingestion.confined import run
from documents.ingestion.confined.limits import Limits, Usage
from documents.ingestion.process import process_document
from documents.ingestion.screen import screen_document
from documents.records import ParsedDocument, ProcessedDocument, Severity
from documents.tests.ingestion.shared_cases import count_tokens

DATA = Path(os.environ.get("LEGALQA_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
HOSTILE_FILES = Path(__file__).parents[3] / "docs" / "explanation" / "hostile-files.md"
TEXT = frozenset({"text"})
NO_TEXT = frozenset({"empty", "encrypted", "needs_ocr", "refused", "unsupported"})
ANY = TEXT | NO_TEXT
MAX_CPU_SECONDS = 60
MAX_MEMORY_BYTES = 1024**3
# The rest of a manifest's expectation, and the outcomes that satisfy it.
EXPECTED = (
    ("unsupported type named clearly", frozenset({"unsupported", "encrypted"})),
    ("text can be extracted without a password", TEXT),
    ("must be refused cleanly", NO_TEXT),
    ("deleted text not indexed", ANY),
    ("refuse", NO_TEXT),
    ("scan without text layer must be reported", ANY),
    ("script text dropped", TEXT),
    ("boilerplate kept out", TEXT),
    ("structure kept", TEXT),
    ("bounded time; headings kept", TEXT),
    ("", ANY),
)
# A file whose outcome differs from what its manifest or another reader suggests, and why.
DIFFERENCES = {
    "copy-protected.pdf": "opens without a password: the owner's password forbids copying only, "
    "and whoever uploads it answers for that",
    "protected_sample.docx": "the password guards editing only; the text is not encrypted, and "
    "Word shows it to anybody",
}
WORD = (".docx", ".docm")
WEB = (".html", ".txt", ".fuzz", ".eml")
OLE = b"\xd0\xcf\x11\xe0"
ENOUGH_CHARACTERS = 200  # what another reader found, from which on we must find text too


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of one file, and what it took."""

    outcome: str
    message: str
    document: ParsedDocument | None
    usage: Usage


def _rows(collection: str) -> list[dict[str, Any]]:
    path = DATA / collection / "manifest.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


NASTY = {Path(row["file"]).name: row for row in _rows("nasty-files")}
ENCODED = {Path(row["file"]).name: row for row in _rows("encodings")}
needs_files = pytest.mark.skipif(not NASTY, reason="LEGALQA_SHARED_DATA has no nasty-files")


def _read(path: Path) -> Reading:
    used: list[Usage] = []
    limits = Limits(cpu_seconds=MAX_CPU_SECONDS)
    data = path.read_bytes()
    try:
        found = run.parse_confined(data, file_name=path.name, limits=limits, observe=used.append)
    except ParseError as error:
        return Reading(error.code, error.message, None, used[0])
    return Reading("text", "", found, used[0])


@pytest.fixture(scope="session")
def readings() -> dict[str, Reading]:
    """Every file once, two at a time."""
    paths = [
        *(DATA / "nasty-files" / "files" / name for name in NASTY),
        *(DATA / "encodings" / "files" / name for name in ENCODED),
    ]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((path.name for path in paths), pool.map(_read, paths), strict=True))


def allowed(name: str) -> frozenset[str]:
    """The outcomes that the manifest's words allow."""
    expected = NASTY[name]["expected"]
    return next(outcomes for words, outcomes in EXPECTED if words in expected)


@needs_files
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [*NASTY, *ENCODED])
def test_every_file_ends_within_its_limits_in_a_sentence(
    name: str, readings: dict[str, Reading]
) -> None:
    reading = readings[name]

    assert reading.outcome in ANY
    assert reading.usage.cpu_seconds < MAX_CPU_SECONDS
    assert reading.usage.peak_memory_bytes < MAX_MEMORY_BYTES
    if reading.document is None:
        assert reading.message.endswith(".")
        assert "Error" not in reading.message
        assert "Traceback" not in reading.message
        assert "could not be read: it is damaged, or of a very unusual kind" not in reading.message
    else:
        _check_blocks(reading.document)


def _check_blocks(document: ParsedDocument) -> None:
    """All text is in the blocks, in order, and blocks do not overlap."""
    assert document.text.strip()
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end <= len(document.text)
        assert not document.text[end : block.start].strip()
        end = block.end
    assert not document.text[end:].strip()


@needs_files
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in NASTY if name.endswith(WORD)])
def test_word_file_is_refused_or_its_macros_are_named(
    name: str, readings: dict[str, Reading]
) -> None:
    data = (DATA / "nasty-files" / "files" / name).read_bytes()
    document = readings[name].document
    if data.startswith(OLE) or not NASTY[name]["zip"]["ok"]:
        assert readings[name].outcome in {"refused", "encrypted"}
    if name.endswith(".docm"):
        assert document is not None
        assert [active.kind for active in document.active_content][:1] == ["macro"]
        assert document.active_content[0].is_dangerous


@needs_files
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in NASTY if name.endswith(WEB)])
def test_web_page_or_text_gives_no_script_and_no_damage(
    name: str, readings: dict[str, Reading]
) -> None:
    reading = readings[name]
    assert reading.outcome in {"text", "empty", "unsupported", "refused"}
    if reading.document is not None:
        assert "\ufffd" not in reading.document.text
        assert "function(" not in reading.document.text


@needs_files
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in NASTY if name not in DIFFERENCES])
def test_the_outcome_is_the_expected_one(name: str, readings: dict[str, Reading]) -> None:
    assert readings[name].outcome in allowed(name), readings[name].message


@needs_files
@pytest.mark.timeout(900)
def test_what_another_reader_could_read_we_read_too(readings: dict[str, Reading]) -> None:
    lost = {
        name: readings[name].message
        for name, row in NASTY.items()
        if (row.get("poppler") or {}).get("text_chars", 0) >= ENOUGH_CHARACTERS
        and readings[name].outcome != "text"
        and allowed(name) & TEXT
        and name not in DIFFERENCES
    }

    assert lost == {}


@needs_files
@pytest.mark.timeout(900)
def test_every_encoding_gives_text(readings: dict[str, Reading]) -> None:
    assert {name: readings[name].message for name in ENCODED if not readings[name].document} == {}


def test_each_difference_has_its_reason_in_the_documentation() -> None:
    page = " ".join(HOSTILE_FILES.read_text(encoding="utf-8").split())

    for name, reason in DIFFERENCES.items():
        assert f"| `{name}` | {reason} |" in page


# --- the files of the security collection, through all pure steps ---------------------------


@cache
def _expectations() -> dict[str, dict[str, Any]]:
    path = DATA / "security" / "expected.json"
    if not path.exists():
        return {}
    return {row["file"]: row for row in json.loads(path.read_text(encoding="utf-8"))["files"]}


def _outcome(name: str) -> tuple[str, ProcessedDocument | None, Usage]:
    used: list[Usage] = []
    data = (DATA / "security" / "files" / name).read_bytes()
    parse = partial(run.parse_confined, observe=used.append)
    try:
        done = process_document(
            data,
            file_name=name,
            title=None,
            count_tokens=count_tokens,
            screen=screen_document,
            parse=parse,
        )
    except ParseError:
        return "reject", None, used[0]
    is_held = any(finding.severity is Severity.BLOCK for finding in done.findings)
    return "quarantine" if is_held else "accept", done, used[0]


@pytest.mark.skipif(not _expectations(), reason="LEGALQA_SHARED_DATA has no security folder")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", list(_expectations()))
def test_security_file(name: str) -> None:
    expected = _expectations()[name]

    outcome, done, usage = _outcome(name)

    assert outcome in expected["outcome"]
    assert usage.seconds < expected.get("max_seconds", 60)
    assert usage.peak_memory_bytes < expected.get("max_rss_mb", 1024) * 1024 * 1024
    text = done.parsed.text if done else ""
    for words in expected.get("must_contain", []):
        assert words in text
    for words in expected.get("must_not_contain", []):
        assert words not in text
    if outcome == "accept":
        assert all(words in text for words in expected.get("must_contain_if_accepted", []))
