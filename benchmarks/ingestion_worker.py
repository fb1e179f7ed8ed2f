"""One system reading files in a process of its own: JSON lines in, JSON lines out.

    python ingestion_worker.py ours|peer TOKENIZER

A task is `{name, data}` (base64); the reply `{error, text, chunks, headings, numbers, seconds,
peak_kb}`. `ours` runs parse, structure and chunk of this checkout; `peer` runs markitdown, then
langchain's Markdown header splitter and recursive splitter, in an environment that holds
nothing of ours, so this file imports either only when asked to. Seconds are processor time;
the peak is what the process took above what it held before the file.
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

WINDOW = 254  # the embedder's 256 less the marks at both ends
_PEER_OVERLAP = 25
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
_NUMBERED = re.compile(
    r"[*_\s]*(?:(?:article|section|chapter|part|annex|schedule|appendix|clause|rule)\s+\w+"
    r"|§+\s*\d|第\s*[\d一二三四五六七八九十百]+|\(?\d{1,3}(?:\.\d{1,3})*[.)]?\s"
    r"|\(?[A-Z](?:\.\d+)*[.)]\s|\(?[IVXLC]+[.)]\s)",
    re.IGNORECASE,
)
Read = Callable[[bytes, str], dict[str, Any]]


def main() -> None:
    """Answer each line of the standard input."""
    system, tokenizer = sys.argv[1:3]
    read = _ours(tokenizer) if system == "ours" else _peer(tokenizer)
    out = sys.stdout
    for line in sys.stdin:
        task = json.loads(line)
        with redirect_stdout(sys.stderr):
            reply = _measured(read, base64.b64decode(task["data"]), task["name"])
        out.write(json.dumps(reply) + "\n")
        out.flush()


def _measured(read: Read, data: bytes, name: str) -> dict[str, Any]:
    before = _reset_peak()
    start = time.process_time()
    try:
        reply: dict[str, Any] = {"error": None, **read(data, name)}
    except Exception as error:  # noqa: BLE001 - whatever a converter raises is its failure
        message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        reply = {"error": str(message)[:300], "text": "", "chunks": [], "headings": []}
        reply |= {"numbers": []}
    reply["seconds"] = time.process_time() - start
    reply["peak_kb"] = max(_status("VmHWM") - before, 0)
    return reply


def _reset_peak() -> int:
    """Forget the highest memory so far; returns what the process holds now, in kB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0])


def _counter(path: str) -> Callable[[str], int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _ours(tokenizer: str) -> Read:
    from documents.ingestion.process import process_document

    count = _counter(tokenizer)

    def read(data: bytes, name: str) -> dict[str, Any]:
        document = process_document(
            data, file_name=name, title=None, count_tokens=count, screen=lambda *_: ()
        )
        text = document.parsed.text
        return {
            "text": text,
            "chunks": [
                {"text": chunk.text, "end": chunk.end, "tokens": chunk.tokens}
                for chunk in document.chunks
            ],
            "headings": [text[s.start : s.body_start].strip() for s in document.sections],
            "numbers": [section.number for section in document.sections if section.number],
            "body": sum(
                _letters(text[section.body_start : section.end]) for section in document.sections
            ),
            "covered": sum(_letters(chunk.text[chunk.overlap :]) for chunk in document.chunks),
            "warnings": sorted({warning.code for warning in document.parsed.warnings}),
        }

    return read


def _letters(text: str) -> int:
    return sum(not character.isspace() for character in text)


def _peer(tokenizer: str) -> Read:
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter
    from markitdown import MarkItDown

    count = _counter(tokenizer)
    converter = MarkItDown(enable_plugins=False)
    by_heading = MarkdownHeaderTextSplitter(
        [("#" * level, f"h{level}") for level in range(1, 7)], strip_headers=False
    )
    by_length = RecursiveCharacterTextSplitter(
        chunk_size=WINDOW, chunk_overlap=_PEER_OVERLAP, length_function=count
    )

    def read(data: bytes, name: str) -> dict[str, Any]:
        result = converter.convert_stream(io.BytesIO(data), file_extension=Path(name).suffix)
        # The header splitter drops no-break spaces, which would glue words: not held against it.
        text = result.text_content.replace("\xa0", " ")
        chunks = by_length.split_documents(by_heading.split_text(text))
        headings = _HEADING.findall(text)
        return {
            "text": text,
            "chunks": [
                {"text": chunk.page_content, "end": None, "tokens": count(chunk.page_content)}
                for chunk in chunks
            ],
            "headings": [],  # they are in the chunks
            "numbers": [heading for heading in headings if _NUMBERED.match(heading)],
        }

    return read


if __name__ == "__main__":
    main()
