"""From the sections of two texts to what became of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from documents.ingestion.comparison.align import Profile, pairs, profile_of
from documents.ingestion.comparison.order import moved
from documents.ingestion.comparison.parts import parts_of
from documents.ingestion.comparison.records import (
    ComparedSection,
    Comparison,
    Piece,
    PieceKind,
    SectionChange,
)
from documents.ingestion.comparison.words import collapsed, word_changes

_BETWEEN = "\n"  # the parts of a section that was split or merged


def compare(old: Sequence[ComparedSection], new: Sequence[ComparedSection]) -> Comparison:
    """What changed from the older to the newer text, in the order of the newer one.

    The same input always gives the same comparison, and it depends on nothing else.
    """
    of_old, of_new = list(map(profile_of, old)), list(map(profile_of, new))
    found = pairs(old, new, of_old, of_new)
    gone, fresh = _loose(of_old, of_new, found)
    split = parts_of(of_old, of_new, found, fresh)
    merged = parts_of(of_new, of_old, {j: i for i, j in found.items()}, gone)
    groups = _groups(found, split, merged)
    elsewhere = moved(old, new, found)
    changes = {
        group: _change(old, new, group, is_moved=bool(elsewhere & set(group[0])))
        for group in groups
    }
    return Comparison(tuple(_in_order(old, new, changes)))


_Group = tuple[tuple[int, ...], tuple[int, ...]]  # indexes of the older and of the newer side


def _loose(
    of_old: Sequence[Profile], of_new: Sequence[Profile], found: Mapping[int, int]
) -> tuple[list[int], list[int]]:
    taken = set(found.values())
    gone = [i for i in range(len(of_old)) if i not in found]
    return gone, [j for j in range(len(of_new)) if j not in taken]


def _groups(
    found: Mapping[int, int], split: Mapping[int, int], merged: Mapping[int, int]
) -> list[_Group]:
    """Which sections make one change; a section that would be in two stays with its pair."""
    out_of: dict[int, list[int]] = defaultdict(list)
    for part, whole in split.items():
        out_of[whole].append(part)
    into: dict[int, list[int]] = defaultdict(list)
    for part, whole in merged.items():
        if part not in out_of:
            into[whole].append(part)
    groups: list[_Group] = []
    for i, j in found.items():
        news = (j, *out_of.pop(i, []))
        olds = (i,) if len(news) > 1 else (i, *into.pop(j, []))
        groups.append((tuple(sorted(olds)), tuple(sorted(news))))
    taken = {i for olds, _ in groups for i in olds}, {j for _, news in groups for j in news}
    groups += [((i,), tuple(sorted(news))) for i, news in out_of.items() if i not in taken[0]]
    groups += [(tuple(sorted(olds)), (j,)) for j, olds in into.items() if j not in taken[1]]
    return groups


def _in_order(
    old: Sequence[ComparedSection],
    new: Sequence[ComparedSection],
    changes: Mapping[_Group, SectionChange],
) -> list[SectionChange]:
    """By the newer text; what was removed follows the section that it followed."""
    at_new = {news[0]: change for (_, news), change in changes.items()}
    in_old = {i: news[0] for olds, news in changes for i in olds}
    in_new = {j for _, news in changes for j in news}
    removed: dict[int, list[int]] = defaultdict(list)
    place = -1
    for i in range(len(old)):
        if i in in_old:
            place = in_old[i]
        else:
            removed[place].append(i)
    ordered = [_alone(old[i], is_new=False) for i in removed[-1]]
    for j in range(len(new)):
        if j in at_new:
            ordered.append(at_new[j])
        elif j not in in_new:
            ordered.append(_alone(new[j], is_new=True))
        ordered += [_alone(old[i], is_new=False) for i in removed.get(j, [])]
    return ordered


def _alone(section: ComparedSection, *, is_new: bool) -> SectionChange:
    kind = PieceKind.ADDED if is_new else PieceKind.REMOVED
    return SectionChange(
        old=() if is_new else (section,),
        new=(section,) if is_new else (),
        is_moved=False,
        is_renumbered=False,
        is_retitled=False,
        is_reworded=True,
        pieces=(Piece(kind, section.text),) if section.text else (),
    )


def _change(
    old: Sequence[ComparedSection],
    new: Sequence[ComparedSection],
    group: _Group,
    *,
    is_moved: bool,
) -> SectionChange:
    olds, news = tuple(old[i] for i in group[0]), tuple(new[j] for j in group[1])
    was, now = (_BETWEEN.join(s.text for s in side) for side in (olds, news))
    is_reworded = collapsed(was) != collapsed(now)
    plain = (Piece(PieceKind.SAME, now),) if now else ()
    return SectionChange(
        old=olds,
        new=news,
        is_moved=is_moved,
        is_renumbered=_numbers(olds) != _numbers(news),
        is_retitled=[collapsed(s.title) for s in olds] != [collapsed(s.title) for s in news],
        is_reworded=is_reworded,
        pieces=word_changes(was, now) if is_reworded else plain,
    )


def _numbers(sections: Sequence[ComparedSection]) -> list[str]:
    return [(section.number or "").rstrip(".") for section in sections]
