"""The prompt: fixed rules, and one message that holds the passages and the question.

Retrieval's passages become `<document>` elements of well-formed XML, the question comes last
in an element of its own. Everything that is not ours is escaped by `_text` or `_attribute`:
no template engine ever sees it, so whatever a document says, the message parses back to the
same documents. The rules are the same bytes for every reader and question; they alone are
cached by the provider, so no passage and no question ever is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from xml.sax.saxutils import escape

from qa.records import Passage

PROMPT_VERSION = "answer-1"

_STRING = {"type": "string"}

# `answerable` stands first because the reply is read as it is written: nothing may be shown
# before it is known. Lengths are checked in `draft_parser`; the API takes no length keywords.
ANSWER_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "answerable": {"type": "boolean"},
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": _STRING,
                    "citations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"passage": _STRING, "quote": _STRING},
                            "required": ["passage", "quote"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["text", "citations"],
                "additionalProperties": False,
            },
        },
        "missing": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "confidence": {"type": "string", "enum": ["high", "medium", "low"]},
    },
    "required": ["answerable", "claims", "missing", "confidence"],
    "additionalProperties": False,
}

# Characters that XML 1.0 cannot hold, not even as references. Canonical text has none of them.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# An XML reader turns a bare carriage return into a line feed, and white space in an attribute
# into a space; as references they survive.
_IN_TEXT = {"\r": "&#13;"}
_IN_ATTRIBUTE = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


@lru_cache(maxsize=1)
def system_prompt() -> str:
    """The fixed rules of `PROMPT_VERSION`, read once from their text file."""
    path = Path(__file__).parent / "prompts" / f"{PROMPT_VERSION}.txt"
    return path.read_text(encoding="utf-8").strip()


def build_user_message(
    question: str, passages: Sequence[Passage], *, language: str, as_of: date
) -> str:
    """The message that holds the documents, best first, and the question, last.

    Args:
        question: the reader's words, as they are.
        passages: what this reader may read, with ids that are unique in this message.
        language: the question's language, in which the claims are to be written.
        as_of: the day whose rules are asked for.

    Returns:
        Two XML elements, `<documents>` and `<question>`, each well formed.
    """
    documents = "\n".join(_document(passage) for passage in passages)
    return (
        f'<documents as_of="{as_of.isoformat()}">\n{documents}\n</documents>\n'
        f'<question language="{_attribute(language)}">{_text(question)}</question>'
    )


def context_within(
    passages: Sequence[Passage], *, max_tokens: int, count_tokens: Callable[[str], int]
) -> tuple[Passage, ...]:
    """The passages that fit the context, best first.

    The first one is always taken, even alone above the limit; each later one is taken if it
    still fits as a whole. None is ever cut: an exception may stand in its last line.

    Args:
        passages: best first.
        max_tokens: limit for all documents together, their tags included.
        count_tokens: counts the tokens of a text.
    """
    taken: list[Passage] = []
    left = max_tokens
    for passage in passages:
        tokens = count_tokens(_document(passage))
        if tokens <= left or not taken:
            taken.append(passage)
            left -= tokens
    return tuple(taken)


def _document(passage: Passage) -> str:
    attributes = {
        "id": passage.id,
        "title": passage.document,
        "section": _section(passage),
        "version": str(passage.version),
        "effective": _effective(passage),
    }
    head = " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<document {head}>{_text(passage.text)}</document>"


def _section(passage: Passage) -> str:
    if passage.section_title in ("", passage.section_id):
        return passage.section_id
    return f"{passage.section_id} {passage.section_title}"


def _effective(passage: Passage) -> str:
    start = f"from {passage.effective_from.isoformat()}"
    if passage.effective_to is None:
        return start
    return f"{start} to {passage.effective_to.isoformat()}"


def _text(value: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", value), _IN_TEXT)


def _attribute(value: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", value), _IN_ATTRIBUTE)
