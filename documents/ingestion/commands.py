"""English commands (`Open the portal.`): steps of a procedure, or duties without a modal."""

from __future__ import annotations

import re

from documents.ingestion.definitions import LABEL

INFORMS = re.compile(r"\b(?:see|read|refer|visit|review|contact|note|email|call|check)\b", re.I)

_COMMAND_VERBS = (
    "add|allow|apply|approve|arrange|ask|assign|attach|back|book|bring|build|call|cancel|change|"
    "check|choose|click|close|collect|complete|configure|confirm|contact|copy|create|decide|"
    "define|delete|deliver|deploy|discuss|document|download|draft|edit|email|enable|ensure|enter|"
    "escalate|evaluate|fill|find|follow|get|give|go|identify|include|inform|install|invite|keep|"
    "let|list|locate|lock|log|make|mark|merge|meet|move|navigate|notify|obtain|open|paste|perform|"
    "pick|place|plan|post|prepare|press|print|provide|publish|pull|push|put|record|remove|report|"
    "request|reset|restart|return|review|run|save|scroll|select|send|set|share|sign|start|stop|"
    "store|submit|switch|take|talk|tap|tell|test|track|turn|type|update|upload|use|verify|wait|"
    "wear|write"
)
_COMMAND = re.compile(
    rf"^{LABEL}(?:step\s+\d+\s*[:.–-]\s*)?[*_\"]*"
    rf"(?:(?:please|then|next|first|finally|now|also|always|immediately|promptly)[,\s]+"
    rf"|(?:as\s+(?:a|an)\s+(?:\w+\s+)?step|to\s+[^,]{{3,80}}|(?:once|after|when|if|before)\s[^,]{{3,160}}"
    rf"|in\s+[^,]{{2,60}}|on\s+[^,]{{2,60}}|from\s+[^,]{{2,60}}),\s*(?:then\s+|please\s+)?)*"
    rf"[*_]*(?:{_COMMAND_VERBS})\b(?!\s+(?:is|are|was|must|shall|may|will|has|have|of|and\s+\w+\s+(?:is|are))\b)",
    re.IGNORECASE,
)
# `To change your name, you must then press Save.`
_ADVICE = re.compile(
    rf"^{LABEL}(?:to\s[^,]{{3,80}},\s*you\s+(?:will\s+)?(?:need\s+to|must|should|can|may)"
    rf"|[^.;]{{1,200}},\s+(?:please\s+)?(?:click|tap|press|navigate|log\s+in))\b",
    re.IGNORECASE,
)
_SCREEN = re.compile(
    r"\b(?:click|tap|press|navigate|log\s+in(?:to)?|button|menu|tab|icon)\b", re.IGNORECASE
)
_SEQUENCE = re.compile(
    rf"^{LABEL}(?:then|next|first|second|third|finally|lastly|afterwards|once|after|before|when)\b",
    re.IGNORECASE,
)
_STEP_WORD = re.compile(r"\b(?:as\s+an?\s+(?:\w+\s+)?step|step\s+\d+)\b", re.IGNORECASE)
_STEPS = re.compile(
    r"(?:following|these)\s+(?:\w+\s+)?(?:steps|procedures?|process)\b[^.\n]{0,60}:\s*\n", re.I
)
_OFFER = re.compile(rf"^{LABEL}(?:to|if|for)\s|\bplease\b", re.IGNORECASE)
_BARE_ITEM = re.compile(
    rf"^{LABEL}(?:(?:immediately|promptly|\w+ly)\s+)?(?:{_COMMAND_VERBS}|maintain|comply)\s"
)


def is_command(sentence: str) -> bool:
    """Whether the sentence is an instruction: an imperative at its beginning."""
    return _COMMAND.match(sentence) is not None or _ADVICE.match(sentence) is not None


def is_on_screen(sentence: str) -> bool:
    """Whether it says what to do on a screen."""
    return _SCREEN.search(sentence) is not None


def has_sequence(sentence: str) -> bool:
    """Whether it opens with a word of order: then, next, once."""
    return _SEQUENCE.match(sentence) is not None


def has_step(sentence: str) -> bool:
    """Whether it calls itself a step."""
    return _STEP_WORD.search(sentence) is not None


def announces_steps(text: str) -> bool:
    """Whether the text introduces a list of steps."""
    return _STEPS.search(text[:400]) is not None


def is_duty_by_mood(sentence: str) -> bool:
    """A command that is a whole sentence, or an item that continues `shall:`."""
    is_whole = sentence.rstrip("*_ ").endswith((".", "!"))
    if is_whole and is_command(sentence):
        return not (INFORMS.search(sentence[:60]) or _OFFER.search(sentence[:120]))
    return _BARE_ITEM.match(sentence) is not None and sentence.endswith((";", "; and", ", and"))
