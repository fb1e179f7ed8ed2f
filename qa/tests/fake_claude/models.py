"""What a fake model says: functions from a request's body to a structured answer.

`documents_in` and `question_in` read our prompt back, for models that quote it or obey it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PromptDocument:
    """One document as it stands in a prompt, unescaped."""

    id: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


def documents_in(body: JSON) -> list[PromptDocument]:
    """The documents in the last message of a request."""
    return [
        PromptDocument(node.attrib["id"], node.text or "", dict(node.attrib))
        for node in _message(body).iter("document")
    ]


def question_in(body: JSON) -> str:
    """The question in the last message of a request."""
    return _message(body).findtext("question") or ""


def _message(body: JSON) -> ET.Element:
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    return ET.fromstring(f"<message>{text}</message>")  # noqa: S314 - our own prompt


def claim(text: str, *citations: tuple[str, str]) -> JSON:
    """A claim with (passage id, quote) pairs."""
    return {
        "text": text,
        "citations": [{"passage": passage, "quote": quote} for passage, quote in citations],
    }


def answered(*claims: JSON, confidence: str = "high") -> JSON:
    """A structured answer."""
    return {
        "answerable": True,
        "claims": list(claims),
        "missing": None,
        "confidence": confidence,
    }


def not_answerable(missing: str = "the point that was asked") -> JSON:
    """A structured reply that declines."""
    return {"answerable": False, "claims": [], "missing": missing, "confidence": "low"}


def quoting(body: JSON) -> JSON:
    """An honest model: quotes the sentence that shares most words with the question."""
    wanted = _words(question_in(body))
    best, best_score = None, 0
    for document in documents_in(body):
        for sentence in re.split(r"(?<=[.!?。！？；])\s*|\n+", document.text):
            score = len(wanted & _words(sentence))
            if score > best_score and sentence.strip():
                best, best_score = (document.id, sentence.strip()), score
    return answered(claim(best[1], best)) if best else not_answerable()


def _words(text: str) -> set[str]:
    words = set(re.findall(r"[a-z0-9]{4,}", text.lower()))
    ideographs = "".join(re.findall(r"[\u4e00-\u9fff]+", text))
    return words | {ideographs[i : i + 2] for i in range(len(ideographs) - 1)}
