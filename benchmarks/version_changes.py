"""How well changes between versions of real policies are described.

Reads `policy-versions/index.jsonl` below the folder given (or LEGALQA_SHARED_DATA). No labels
say what became of each section of a real history, so three things are measured:

- every pair of neighbouring versions: does the comparison give back both texts, how many words
  does it mark, and how many does a unified line diff (difflib) mark;
- planted changes: sections of real texts are moved, renumbered, reworded, removed, added, split
  and merged in a known way, and the comparison has to say which;
- the longest time of one comparison.

    python -m benchmarks.version_changes [FOLDER] [--list]
"""

from __future__ import annotations

import difflib
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from documents.ingestion import parsers
from documents.ingestion.comparison import (
    ChangeKind,
    ComparedSection,
    PieceKind,
    SectionChange,
    compare,
)
from documents.ingestion.comparison.words import words_of
from documents.ingestion.structure import build_sections

LONG_ENOUGH = 12  # words, for a section to be split, merged or reworded


def sections_of(path: Path) -> list[ComparedSection]:
    """The sections of a file with their own words."""
    document = parsers.parse(path.read_bytes(), file_name=path.name)
    records = build_sections(document, fallback_title="Policy")
    return [
        ComparedSection(
            key=str(r.ordinal),
            parent=None if r.parent is None else str(r.parent),
            number=r.number,
            title=r.title or "",
            path=r.path,
            text=document.text[r.body_start : r.end].strip(),
        )
        for r in records
    ]


def main() -> None:
    """Measure and print."""
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    folder = Path(names[0] if names else os.environ.get("LEGALQA_SHARED_DATA", "../shared/data"))
    rows = [
        json.loads(line)
        for line in (folder / "policy-versions" / "index.jsonl").read_text("utf-8").splitlines()
    ]
    by_policy: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["version_date"]):
        by_policy[row["policy"]].append(row)
    texts = {
        policy: [sections_of(folder / "policy-versions" / row["file"]) for row in versions]
        for policy, versions in by_policy.items()
    }
    histories(texts)
    planted(texts)


def histories(texts: dict[str, list[list[ComparedSection]]]) -> None:
    """Neighbouring versions: both texts given back, words marked, kinds found."""
    counts: Counter[str] = Counter()
    exact = marked = lined = longest = 0.0
    pairs = [pair for versions in texts.values() for pair in pairwise(versions)]
    for old, new in pairs:
        begun = time.process_time()
        changes = compare(old, new).changes
        longest = max(longest, time.process_time() - begun)
        counts.update(change.kind.value for change in changes)
        exact += gives_back(old, new)
        marked += sum(
            len(words_of(piece.text))
            for change in changes
            if change.kind is not ChangeKind.MOVED
            for piece in change.pieces
            if piece.kind is not PieceKind.SAME
        )
        lined += line_words(old, new)
    print(f"{len(pairs)} pairs of versions, {sum(counts.values())} sections: {dict(counts)}")
    print(f"both texts given back: {exact:.0f} of {len(pairs)}")
    print(f"words marked: {marked:,.0f}; by a unified line diff: {lined:,.0f}")
    print(f"longest comparison: {longest:.2f} s")


def gives_back(old: list[ComparedSection], new: list[ComparedSection]) -> bool:
    """Whether every section is in one change, and each change gives back what it is made of.

    The newer text to the character, the older one but for white space.
    """
    changes = compare(old, new).changes
    olds = sorted(section.key for change in changes for section in change.old)
    news = sorted(section.key for change in changes for section in change.new)
    return (
        olds == sorted(section.key for section in old)
        and news == sorted(section.key for section in new)
        and all(_is_exact(change) for change in changes)
    )


def _is_exact(change: SectionChange) -> bool:
    was, now = ("\n".join(s.text for s in side) for side in (change.old, change.new))
    newer = "".join(p.text for p in change.pieces if p.kind is not PieceKind.REMOVED)
    older = "".join(p.text for p in change.pieces if p.kind is not PieceKind.ADDED)
    return newer == now and "".join(older.split()) == "".join(was.split())


def line_words(old: list[ComparedSection], new: list[ComparedSection]) -> int:
    """How many words a unified diff of the lines marks."""
    a, b = (
        [line for s in side for line in (s.heading, *s.text.split("\n")) if line]
        for side in (old, new)
    )
    marked = difflib.unified_diff(a, b, n=0, lineterm="")
    return sum(
        len(words_of(line[1:]))
        for line in marked
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    )


def planted(texts: dict[str, list[list[ComparedSection]]]) -> None:
    """Known changes to real texts, and whether each is named rightly."""
    chance = random.Random(20_261_130)  # noqa: S311 - the same changes each time
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    quiet = untouched = 0
    for versions in texts.values():
        base = versions[-1]
        usable = [i for i, s in enumerate(base) if len(words_of(s.text)) >= LONG_ENOUGH]
        if len(usable) < 6:
            continue
        for kind in KINDS:
            changed, wanted, touched = plant(base, chance.choice(usable), kind, chance)
            sides = (changed, base) if kind == "merged" else (base, changed)
            found = {
                (
                    change.kind.value,
                    tuple(s.key for s in change.old),
                    tuple(s.key for s in change.new),
                )
                for change in compare(*sides).changes
            }
            asked[kind] += 1
            right[kind] += wanted in found
            if wanted not in found and "--list" in sys.argv:
                print(kind, wanted, sorted(f for f in found if f[0] != "unchanged"))
            others = [f for f in found if not touched & {*f[1], *f[2]}]
            untouched += len(others)
            quiet += sum(f[0] in ("unchanged", "renumbered") for f in others)
    for kind in KINDS:
        print(f"planted {kind}: {right[kind]} of {asked[kind]} named rightly")
    print(f"sections left alone that are said to be so: {quiet} of {untouched}")


KINDS = ("moved", "changed", "moved_and_changed", "removed", "added", "split", "merged")
_Planted = tuple[list[ComparedSection], tuple[str, tuple[str, ...], tuple[str, ...]], set[str]]


def plant(base: list[ComparedSection], at: int, kind: str, chance: random.Random) -> _Planted:
    """A text with one section changed in this way, and what should be said of it."""
    section, rest = base[at], base[:at] + base[at + 1 :]
    key = section.key
    if kind == "removed":
        return rest, (kind, (key,), ()), {key}
    if kind == "added":
        words = section.text.split()
        chance.shuffle(words)
        text = " ".join(words[::-1])
        fresh = replace(section, key="new", number=None, title="Fresh rules", text=text)
        fresh = replace(fresh, path=(*section.path[:-1], "Fresh rules"))
        return [*base[: at + 1], fresh, *base[at + 1 :]], (kind, (), ("new",)), {"new"}
    if kind == "changed":
        return (
            [*base[:at], reworded(section, chance), *base[at + 1 :]],
            (kind, (key,), (key,)),
            {key},
        )
    if kind in ("moved", "moved_and_changed"):
        gone = reworded(section, chance) if kind != "moved" else section
        peers = [i for i, s in enumerate(rest) if s.parent == section.parent]
        far = max(peers, key=lambda i: abs(i - at), default=0)
        place = far + 1 if far >= at else far
        neighbours = {rest[i].key for i in peers}
        return [*rest[:place], gone, *rest[place:]], (kind, (key,), (key,)), {key, *neighbours}
    words = section.text.split()
    half = len(words) // 2
    one = replace(section, text=" ".join(words[:half]))
    two = replace(
        section, key="two", title="Second half", text=" ".join(words[half:]),
        path=(*section.path[:-1], "Second half"),
    )  # fmt: skip
    divided = [*base[:at], one, two, *base[at + 1 :]]
    if kind == "split":
        return divided, (kind, (key,), (key, "two")), {key, "two"}
    return divided, (kind, (key, "two"), (key,)), {key, "two"}  # the divided text is the older one


def reworded(section: ComparedSection, chance: random.Random) -> ComparedSection:
    """The section with a sixth of its words replaced."""
    words = section.text.split()
    for i in chance.sample(range(len(words)), max(len(words) // 6, 1)):
        words[i] = f"changed{chance.randrange(99)}"
    return replace(section, text=" ".join(words))


if __name__ == "__main__":
    main()
