"""Measure ingestion on whole corpora, side by side with a known converter and splitter.

    python -m benchmarks.ingestion_quality SHARED_DATA [--corpus NAME] [--limit N]
        [--peers FOLDER] [--details FILE] [--no-write]

Every file is read by our steps and by markitdown with langchain's text splitters, each in a
process of its own, in the same run; then a sample is read in the confined child, for its cost.
Each whole corpus is kept in var/benchmarks/ingestion, and the tables of all that are there go
into docs/explanation/ingestion-quality.md, so that one corpus can be measured again after a
change; `--details` keeps one JSON line a file, to look into what is odd. The peers live in a
virtual environment that is made on first use from `peers-ingestion.txt`.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import ingestion_measures as measures
from benchmarks.ingestion_corpora import CORPORA, SourceFile
from benchmarks.ingestion_report import write_tables
from documents.errors import ParseError
from documents.ingestion.confined.limits import Usage
from documents.ingestion.confined.run import parse_confined

ROOT = Path(__file__).resolve().parents[1]
SYSTEMS = ("ours", "peer")
_WINDOW = 254
_CHILD_SAMPLE = 3  # the largest files of a corpus
_ENOUGH_BYTES = 100_000  # below, a share of the size says only what an empty child takes
_ARTICLE = re.compile(
    r"第\s*(?P<han>\d+)\s*(?:-\s*(?P<dash>\d+)\s*)?條(?:\s*之\s*(?P<of>\d+))?|Article\s+(?P<en>\d+)"
)


@dataclass(slots=True)
class Totals:
    """What one system did with one corpus."""

    failures: list[str] = field(default_factory=list)
    source_characters: int = 0
    kept_characters: int = 0
    body: int = 0
    covered: int = 0
    chunks: int = 0
    cut: int = 0
    over_window: int = 0
    numbered: int = 0
    seconds: float = 0.0
    read_bytes: int = 0
    peak_bytes: int = 0
    bag: list[float] = field(default_factory=list)
    ordered: list[float] = field(default_factory=list)
    articles: int = 0
    missing: int = 0
    extra: int = 0


@dataclass(slots=True)
class Corpus:
    """One row of the tables."""

    name: str
    measured_on: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}")
    files: int = 0
    size_bytes: int = 0
    systems: dict[str, Totals] = field(default_factory=lambda: {n: Totals() for n in SYSTEMS})
    child_failures: int = 0
    child_seconds: float = 0.0
    child_bytes: int = 0
    child_peak_bytes: int = 0
    child_peak_per_byte: float = 0.0


class Worker:
    """One system in a process of its own."""

    def __init__(self, python: Path, system: str, tokenizer: Path) -> None:
        command = [str(python), str(ROOT / "benchmarks" / "ingestion_worker.py"), system]
        environment = {**os.environ, "PYTHONPATH": str(ROOT) if system == "ours" else ""}
        self._process = subprocess.Popen(
            [*command, str(tokenizer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def read(self, file: SourceFile) -> dict[str, Any]:
        """The system's reply for one file."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the worker has no pipes")
        task = {"name": file.name, "data": base64.b64encode(file.data).decode()}
        stdin.write(json.dumps(task) + "\n")
        stdin.flush()
        reply: dict[str, Any] = json.loads(stdout.readline())
        return reply

    def end(self) -> None:
        """Close its input and wait for it."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Measure the chosen corpora; a full run rewrites the page's tables."""
    arguments = _arguments()
    peer_python = _peer_python(arguments.peers)
    tokenizer = _tokenizer()
    workers = {
        "ours": Worker(Path(sys.executable), "ours", tokenizer),
        "peer": Worker(peer_python, "peer", tokenizer),
    }
    for worker in workers.values():
        worker.read(SourceFile("warm-up.md", b"# 1 A\n\nThis is a sentence.\n", ""))
    names = arguments.corpus or list(CORPORA)
    rows: list[Corpus] = []
    details = arguments.details.open("w") if arguments.details else None
    for name in names:
        files = islice(CORPORA[name](arguments.shared), arguments.limit)
        rows.append(_measure(name, files, workers, details))
        print(f"{datetime.now(UTC):%H:%M:%S} {name}: {rows[-1]}", flush=True)
    for worker in workers.values():
        worker.end()
    if arguments.limit is None:
        rows = _kept(rows)
    write_tables(rows, page=None if arguments.no_write or arguments.limit else _page())


def _kept(rows: Sequence[Corpus]) -> list[Corpus]:
    """Keep these rows; returns those of all corpora that were ever measured whole."""
    folder = ROOT / "var" / "benchmarks" / "ingestion"
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        (folder / f"{row.name}.json").write_text(json.dumps(asdict(row)))
    kept = [folder / f"{name}.json" for name in CORPORA]
    return [_row(json.loads(path.read_text())) for path in kept if path.exists()]


def _row(values: dict[str, Any]) -> Corpus:
    systems = {name: Totals(**totals) for name, totals in values["systems"].items()}
    return Corpus(**{**values, "systems": systems})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder of the shared corpora")
    parser.add_argument("--corpus", action="append", choices=list(CORPORA))
    parser.add_argument("--limit", type=int, help="files a corpus")
    parser.add_argument("--peers", type=Path, default=ROOT / "var" / "benchmarks" / "peers")
    parser.add_argument("--details", type=Path, help="a file for one JSON line a file")
    parser.add_argument("--no-write", action="store_true", help="leave the page as it is")
    return parser.parse_args()


def _page() -> Path:
    return ROOT / "docs" / "explanation" / "ingestion-quality.md"


def _peer_python(folder: Path) -> Path:
    """The interpreter of the peers' environment, which is made where it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        wanted = str(ROOT / "benchmarks" / "peers-ingestion.txt")
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", wanted], check=True)
    return python


def _tokenizer() -> Path:
    """The embedder's tokenizer, which both systems count with."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "legalqa.settings")
    from documents.embedding import model  # needs the settings

    return Path(model.current().folder) / "tokenizer.json"


def _measure(
    name: str, files: Iterable[SourceFile], workers: dict[str, Worker], details: Any
) -> Corpus:
    row = Corpus(name)
    kept_for_child: list[SourceFile] = []
    with ThreadPoolExecutor(len(workers)) as threads:
        for file in files:
            row.files += 1
            row.size_bytes += len(file.data)
            replies = threads.map(lambda worker, file=file: worker.read(file), workers.values())
            source = measures.words(file.source)
            for system, reply in zip(workers, list(replies), strict=True):
                facts = _add(row.systems[system], file, source, reply)
                if details:
                    line = {"corpus": name, "system": system, "file": file.name, **facts}
                    details.write(json.dumps(line, ensure_ascii=False) + "\n")
                    details.flush()
            kept_for_child = sorted([*kept_for_child, file], key=lambda f: -len(f.data))
            del kept_for_child[_CHILD_SAMPLE:]
    for file in kept_for_child:
        _confine(row, file)
    return row


def _add(
    totals: Totals, file: SourceFile, source: Sequence[str], reply: dict[str, Any]
) -> dict[str, Any]:
    """Count one file in; returns what is worth keeping about it."""
    totals.source_characters += measures.characters(source)
    totals.seconds += reply["seconds"]
    totals.read_bytes += len(file.data)
    totals.peak_bytes = max(totals.peak_bytes, reply["peak_kb"] * 1024)
    facts: dict[str, Any] = {"seconds": round(reply["seconds"], 3), "mb": len(file.data) / 1e6}
    if reply["error"]:
        totals.failures.append(f"{file.name}: {reply['error']}")
        return facts | {"error": reply["error"]}
    chunks = [chunk["text"] for chunk in reply["chunks"]]
    shown = measures.words("\n".join([*chunks, *reply["headings"]]))
    kept = measures.kept(source, shown)
    totals.kept_characters += kept
    totals.body += reply.get("body", 0)
    totals.covered += reply.get("covered", 0)
    totals.chunks += len(chunks)
    totals.numbered += len(reply["numbers"])
    cut = measures.cut_sentences(reply["text"], chunks)
    totals.cut += len(cut)
    over = [chunk for chunk in reply["chunks"] if chunk["tokens"] > _WINDOW]
    totals.over_window += len(over)
    facts |= {
        "kept": round(kept / max(measures.characters(source), 1), 4),
        "chunks": len(chunks),
        "numbered": len(reply["numbers"]),
        "over": len(over),
        "cut": [chunks[place][-80:] for place in cut[:8]],
        "cut_count": len(cut),
        "lost": (Counter(source) - Counter(shown)).most_common(12),
        "warnings": reply.get("warnings"),
        "peak_mb": round(reply["peak_kb"] / 1024, 1),
    }
    if file.is_twin:
        text = measures.words(reply["text"])
        totals.bag.append(measures.bag_f1(source, text))
        totals.ordered.append(measures.ordered_f1(source, text))
        facts |= {"bag": round(totals.bag[-1], 4), "ordered": round(totals.ordered[-1], 4)}
    if file.articles is not None:
        found = Counter(_article_numbers(reply["numbers"]))
        wanted = Counter(file.articles)
        totals.articles += len(file.articles)
        totals.missing += (wanted - found).total()
        totals.extra += (found - wanted).total()
        facts |= {"missing": list(wanted - found), "extra": list(found - wanted)}
    return facts


def _article_numbers(numbers: Iterable[str]) -> Iterable[str]:
    for number in numbers:
        match = _ARTICLE.match(number.strip())
        if match:
            parts = match["en"] or match["han"], match["dash"] or match["of"]
            yield "-".join(part for part in parts if part)


def _confine(row: Corpus, file: SourceFile) -> None:
    """Read a file in the confined child, for what that costs."""
    usages: list[Usage] = []
    try:
        parse_confined(file.data, file_name=file.name, observe=usages.append)
    except ParseError as error:
        print(f"confined child, {file.name}: {error.message}", flush=True)
        row.child_failures += 1
        return
    usage = usages[0]
    row.child_seconds += usage.cpu_seconds
    row.child_bytes += len(file.data)
    row.child_peak_bytes = max(row.child_peak_bytes, usage.peak_memory_bytes)
    if len(file.data) >= _ENOUGH_BYTES:
        ratio = usage.peak_memory_bytes / len(file.data)
        row.child_peak_per_byte = max(row.child_peak_per_byte, ratio)


if __name__ == "__main__":
    main()
