"""What a tool returns as text, beside the same as JSON; policy text is marked off as a quote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_types import CallToolResult, TextContent


def result(text: str, structured: dict[str, Any]) -> CallToolResult:
    """One reply in both forms."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structured
    )


def for_tools(where: dict[str, Any]) -> dict[str, Any]:
    """A source, citation or section with `section_id` as `get_section` takes it.

    The API's `section_id` is the number or title that a person reads; here that is `section`.
    """
    public_id = where.get("section_public_id") or where["id"]
    rest = {key: value for key, value in where.items() if key not in ("section_public_id", "id")}
    return {**rest, "section": where["section_id"], "section_id": public_id}


def outcome_for_tools(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome whose sources and citations name sections as the tools do."""
    claims = [
        {**claim, "citations": [for_tools(citation) for citation in claim["citations"]]}
        for claim in outcome["claims"]
    ]
    sources = [for_tools(source) for source in outcome["sources"]]
    return {**outcome, "claims": claims, "sources": sources}


def of_search(sources: Sequence[dict[str, Any]]) -> str:
    """The passages in order, each with where it stands."""
    if not sources:
        return "No passage that you may read speaks to this."
    return "\n\n".join(
        f"{n}. {_place(source)} (section_id {source['section_id']})\n{_quoted(source['text'])}"
        for n, source in enumerate(sources, start=1)
    )


def of_section(section: dict[str, Any]) -> str:
    """The section under its place in the policy."""
    return f"{_place(section)}\n{_quoted(section['text'])}"


def of_outcome(outcome: dict[str, Any]) -> str:
    """The answer with its quotes, or the refusal with its reason; the notice last."""
    refusal = outcome["refusal"]
    lines = _refused(refusal) if refusal else _answered(outcome["claims"])
    return "\n".join([*lines, "", *outcome["notices"]])


def _answered(claims: Sequence[dict[str, Any]]) -> list[str]:
    lines = []
    for claim in claims:
        lines.append(claim["text"])
        lines += [f"> {_place(c)}: “{c['quote']}”" for c in claim["citations"]]
    return lines


def _refused(refusal: dict[str, Any]) -> list[str]:
    lines = [f"No answer ({refusal['code']}): {refusal['message']}"]
    if refusal["missing"]:
        lines.append(f"Missing: {refusal['missing']}")
    if refusal["looked_at"]:
        lines.append(f"Looked at: {', '.join(refusal['looked_at'])}")
    if refusal["ask"]:
        lines.append(f"Ask: {refusal['ask']}")
    return lines


def _place(where: dict[str, Any]) -> str:
    return (
        f"{where['document']} §{where['section']}, version {where['version']}, "
        f"from {where['effective_from']}"
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())
