"""Which words changed between two texts.

Chinese and Japanese are compared character by character, other scripts word by word, and what
is between words never counts: a line that is broken elsewhere is no change. The shortest edit
is searched within a limit (Myers); two long texts that differ more are compared by sentences
first, so that time stays proportional to what changed and not to the square of the length.

Source: Myers, An O(ND) difference algorithm and its variations, Algorithmica 1986.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence

from documents.ingestion.comparison.records import Piece, PieceKind
from documents.ingestion.sentences import split_sentences

MOST_EDITS = 400  # words that differ, beyond which sentences are compared first
_ISLAND = 2  # words alike between two changes that read better as one change
_ALIKE = 0.3  # share of words in common, below which two texts are shown one after the other
_TOKEN = re.compile(
    r"[〇零一二三四五六七八九十百千萬万億亿兩两]+"  # an amount in words is one word
    r"|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+"
    r"(?:[.,'’\-][^\W_\u3040-\u30ff\u3400-\u9fff]+)*|[^\w\s]|_+"
)
_Edit = tuple[int, int, int, int]  # old[a:b] is replaced by new[c:d]


def tokens_of(text: str) -> list[tuple[str, int, int]]:
    """The words of a text with their spans: CJK characters singly, marks by themselves."""
    return [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def words_of(text: str) -> list[str]:
    """The words of a text, as they are compared."""
    return [token for token, _, _ in tokens_of(text)]


def word_changes(old: str, new: str) -> tuple[Piece, ...]:
    """The newer text with its added words marked, and the removed ones where they were.

    The pieces that are not `REMOVED` are `new`, to the character; those that are not `ADDED`
    are `old`, but for the white space.
    """
    a, b = tokens_of(old), tokens_of(new)
    edits = _readable(_edits([t for t, _, _ in a], [t for t, _, _ in b], old, new, a, b), a, b)
    return tuple(_pieces(old, new, a, b, edits))


def _pieces(
    old: str,
    new: str,
    a: Sequence[tuple[str, int, int]],
    b: Sequence[tuple[str, int, int]],
    edits: Sequence[_Edit],
) -> Iterator[Piece]:
    at = 0  # in `new`
    for i, j, k, m in edits:
        start = b[k][1] if k < len(b) else len(new)
        end = (b[m][1] if m < len(b) else len(new)) if m > k else start
        if start > at:
            yield Piece(PieceKind.SAME, new[at:start])
        if j > i:
            until = a[j][1] if j < len(a) else len(old)
            yield Piece(PieceKind.REMOVED, old[a[i][1] : until])
        if end > start:
            yield Piece(PieceKind.ADDED, new[start:end])
        at = end
    if at < len(new):
        yield Piece(PieceKind.SAME, new[at:])


def _edits(
    a: Sequence[str],
    b: Sequence[str],
    old: str,
    new: str,
    old_spans: Sequence[tuple[str, int, int]],
    new_spans: Sequence[tuple[str, int, int]],
) -> list[_Edit]:
    found = shortest_edit(a, b, MOST_EDITS)
    if found is not None:
        return found
    x, y = _sentence_bounds(old, old_spans), _sentence_bounds(new, new_spans)
    keys = [tuple(a[i:j]) for i, j in x], [tuple(b[i:j]) for i, j in y]
    hunks = shortest_edit(*keys, MOST_EDITS) or ([(0, len(x), 0, len(y))] if x or y else [])
    return [edit for hunk in hunks for edit in _within(a, b, x, y, hunk)]


def _within(
    a: Sequence[str],
    b: Sequence[str],
    x: Sequence[tuple[int, int]],
    y: Sequence[tuple[int, int]],
    hunk: _Edit,
) -> Iterator[_Edit]:
    """The edits of words inside sentences that were replaced."""
    i, j = _span(x, hunk[0], hunk[1], len(a))
    k, m = _span(y, hunk[2], hunk[3], len(b))
    inner = shortest_edit(a[i:j], b[k:m], MOST_EDITS)
    if inner is None:
        yield (i, j, k, m)
        return
    for p, q, r, s in inner:
        yield (i + p, i + q, k + r, k + s)


def _span(bounds: Sequence[tuple[int, int]], first: int, last: int, end: int) -> tuple[int, int]:
    start = bounds[first][0] if first < len(bounds) else end
    return (start, bounds[last - 1][1]) if last > first else (start, start)


def _sentence_bounds(text: str, spans: Sequence[tuple[str, int, int]]) -> list[tuple[int, int]]:
    """The sentences of a text as ranges of its words; together they hold all of them."""
    bounds, at = [], 0
    for _, end in split_sentences(text):
        until = at
        while until < len(spans) and spans[until][1] < end:
            until += 1
        if until > at:
            bounds.append((at, until))
        at = until
    if at < len(spans):
        bounds.append((at, len(spans)))
    return bounds


def shortest_edit(a: Sequence[Hashable], b: Sequence[Hashable], most: int) -> list[_Edit] | None:
    """The shortest edit from one sequence to another, or None where it takes more than `most`.

    Args:
        a: the older sequence.
        b: the newer one.
        most: how many elements may go or come in all.

    Returns:
        Replacements `(a from, a to, b from, b to)` in order, none touching the next.
    """
    head = _shared_head(a, b)
    tail = _shared_head(a[head:][::-1], b[head:][::-1])
    x, y = a[head : len(a) - tail], b[head : len(b) - tail]
    if not x or not y:
        return [(head, head + len(x), head, head + len(y))] if x or y else []
    trail = _trail(x, y, min(most, len(x) + len(y)))
    if trail is None:
        return None
    return _joined(_walk_back(trail, len(x), len(y)), head)


def _shared_head(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    pairs = zip(a, b, strict=False)
    return next((i for i, (p, q) in enumerate(pairs) if p != q), min(len(a), len(b)))


def _trail(x: Sequence[Hashable], y: Sequence[Hashable], most: int) -> list[dict[int, int]] | None:
    """How far each diagonal reaches after 0, 1, 2… edits, until the end is reached."""
    reach: dict[int, int] = {1: 0}
    trail: list[dict[int, int]] = []
    for d in range(most + 1):
        trail.append(dict(reach))
        for k in range(-d, d + 1, 2):
            is_down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
            i = reach[k + 1] if is_down else reach[k - 1] + 1
            j = i - k
            while i < len(x) and j < len(y) and x[i] == y[j]:
                i, j = i + 1, j + 1
            reach[k] = i
            if i >= len(x) and j >= len(y):
                return trail
    return None


def _walk_back(trail: Sequence[dict[int, int]], i: int, j: int) -> list[_Edit]:
    """The single steps that led to the end, first one first."""
    steps: list[_Edit] = []
    for d in range(len(trail) - 1, 0, -1):
        reach, k = trail[d], i - j
        is_down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
        before = k + 1 if is_down else k - 1
        p = reach[before]
        q = p - before
        steps.append((p, p, q, q + 1) if is_down else (p, p + 1, q, q))
        i, j = p, q
    return steps[::-1]


def _joined(steps: Sequence[_Edit], head: int) -> list[_Edit]:
    """Steps that touch, as one replacement each."""
    edits: list[_Edit] = []
    for p, q, r, s in steps:
        if edits and edits[-1][1] == p + head and edits[-1][3] == r + head:
            edits[-1] = (edits[-1][0], q + head, edits[-1][2], s + head)
        else:
            edits.append((p + head, q + head, r + head, s + head))
    return edits


def _readable(
    edits: Sequence[_Edit],
    a: Sequence[tuple[str, int, int]],
    b: Sequence[tuple[str, int, int]],
) -> list[_Edit]:
    """The same edit with fewer, longer changes where single words between them are alike."""
    changed = sum(j - i + m - k for i, j, k, m in edits)
    total = len(a) + len(b)
    if edits and len(a) > _ISLAND and len(b) > _ISLAND and total - changed < _ALIKE * total:
        return [(0, len(a), 0, len(b))]
    merged: list[_Edit] = []
    for edit in edits:
        if merged and _is_island(merged[-1], edit):
            merged[-1] = (merged[-1][0], edit[1], merged[-1][2], edit[3])
        else:
            merged.append(edit)
    return merged


def _is_island(before: _Edit, after: _Edit) -> bool:
    """Whether the words between two changes are too few to be worth showing as kept."""
    between = after[0] - before[1]
    sizes = [max(j - i, m - k) for i, j, k, m in (before, after)]
    return between <= _ISLAND and between < min(sizes)


def collapsed(text: str) -> str:
    """A text with every run of white space as one blank: what counts as the same words."""
    return " ".join(text.split())
