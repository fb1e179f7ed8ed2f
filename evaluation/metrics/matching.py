"""Whether a retrieved or cited section is one that the label expects.

A place is met by a section of the same policy that bears the expected number or title, or
whose text holds the expected quote. Names are compared without case and trailing dots. `4` is
not met by `4.3`: a clause is another place than its parent.
"""

from __future__ import annotations

from collections.abc import Sequence

from documents.ingestion.folding import fold_for_quotes
from evaluation.records import Expected, FoundSection

Place = tuple[Expected, ...]


def folded(text: str) -> str:
    """Text for comparison: punctuation and blanks as for quotes, and without case."""
    return fold_for_quotes(text).text.casefold().strip()


def expected_places(expected: Sequence[Expected]) -> tuple[Place, ...]:
    """The expected entries grouped by policy and section: two quotes of one section, one place.

    Entries without a section stand each for itself.
    """
    places: dict[tuple[str, str], list[Expected]] = {}
    for item in expected:
        key = _name(item.section) or f"quote:{folded(item.quote)}"
        places.setdefault((folded(item.document), key), []).append(item)
    return tuple(tuple(items) for items in places.values())


def places_met(places: Sequence[Place], section: FoundSection) -> frozenset[int]:
    """The positions of the places that a section meets."""
    return frozenset(
        position
        for position, place in enumerate(places)
        if any(is_met(item, section) for item in place)
    )


def is_met(expected: Expected, section: FoundSection) -> bool:
    """Whether a section is the expected one: by policy, and by name or by quote."""
    if folded(expected.document) not in {folded(section.document), folded(section.title)}:
        return False
    if _name(expected.section) and _name(expected.section) in section_names(section):
        return True
    return holds_quote(section.text, expected.quote)


def section_names(section: FoundSection) -> frozenset[str]:
    """What a section may be called: its number, its title, and both together."""
    own, heading = _name(section.section), _name(section.heading)
    title = heading.removeprefix(own).strip(" .:-")
    return frozenset({own, heading, title} - {""})


def holds_quote(text: str, quote: str) -> bool:
    """Whether a text holds a quote after folding; an empty quote stands nowhere."""
    wanted = fold_for_quotes(quote).text.strip()
    return bool(wanted) and wanted in fold_for_quotes(text).text


def _name(text: str) -> str:
    return folded(text).rstrip(".").strip()
