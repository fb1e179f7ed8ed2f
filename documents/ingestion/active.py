"""What acts or hides in a file, as findings that hold the version and as warnings.

A script, a macro or a remote template is no passage: the whole version waits for a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from documents.records import (
    ActiveContent,
    FindingRecord,
    HiddenText,
    Notice,
    ParsedDocument,
    Severity,
)

RULE = "active-content"
WHERE = "file"
_MAX_DETAIL = 300
# Where text hides from who looks at the page; comments, notes and alternative texts do not.
_UNSEEN = frozenset({"hidden", "white", "tiny", "off_page", "behind"})
_HIDDEN = (
    "The file holds text that is not seen on its pages. It is screened, and never shown or "
    "searched: look into the file if you did not expect that."
)
_CARRIED = ("embedded_file", "ole_object")
_NAMES = {
    "javascript": "a script",
    "launch": "an action that starts a program",
    "macro": "a macro",
    "remote_template": "a template that is fetched from elsewhere",
    "embedded_file": "an embedded file",
    "ole_object": "an embedded object",
    "external_link": "a link that is followed by itself",
    "form_submit": "a form that sends what is typed",
    "rich_media": "sound, film or a 3-D model",
}


def active_findings(parsed: ParsedDocument) -> tuple[FindingRecord, ...]:
    """One finding, outside any passage, for each thing that is dangerous."""
    dangerous = [active for active in parsed.active_content if active.is_dangerous]
    return tuple(_finding(active) for active in dict.fromkeys(dangerous))


def active_warnings(parsed: ParsedDocument) -> Iterator[Notice]:
    """What an owner should know of what acts, what is carried and what is hidden.

    A parser that has said so itself, in better words, is not repeated.
    """
    told = {notice.code for notice in parsed.warnings}
    harmless = [active for active in parsed.active_content if not active.is_dangerous]
    carried = [active for active in harmless if active.kind in _CARRIED]
    acting = [active for active in harmless if active.kind not in _CARRIED]
    if acting and "active_content" not in told:
        names = _names(acting)
        yield Notice(
            "active_content", f"The file holds {names}; none of it is used here.", _pages(acting)
        )
    if carried and "embedded_files" not in told:
        message = f"The file carries {_names(carried)} that is not read. Upload it by itself."
        yield Notice("embedded_files", message, _pages(carried))
    unseen = [hidden for hidden in parsed.hidden if hidden.where in _UNSEEN]
    if unseen and "hidden_text" not in told:
        yield Notice("hidden_text", _HIDDEN, _pages(unseen))


def _finding(active: ActiveContent) -> FindingRecord:
    detail = active.detail[:_MAX_DETAIL]
    name = _NAMES.get(active.kind, active.kind)
    place = f" on page {active.page}" if active.page else ""
    text = f"{name}{place}: {detail}" if detail else f"{name}{place}"
    return FindingRecord(RULE, Severity.BLOCK, 0, len(text), text, active.kind, where=WHERE)


def _names(found: list[ActiveContent]) -> str:
    names = list(dict.fromkeys(_NAMES.get(active.kind, active.kind) for active in found))
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _pages(found: Iterable[ActiveContent | HiddenText]) -> tuple[int, ...]:
    return tuple(sorted({item.page for item in found if item.page}))
