"""Documents made from a known tree of numbers: structure must find exactly that tree."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.chunk import build_chunks
from documents.ingestion.numerals import han_numeral, roman_numeral
from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections

TITLES = (
    "Purpose", "Scope and Limits", "Reporting of Losses", "Data Retention", "Roles", "Travel",
    "Use of Company Cars", "Gifts and Favours", "Access to Buildings", "Review",
)  # fmt: skip
SENTENCES = (
    "Staff keep a record of each visit and show it on request.",
    "The steward decides within 30 days, as section 2 says, and gives reasons.",
    "No fee of more than 45.50 euros may be asked, save where clause 1.1 allows it.",
    "Records from 2018 are kept for five years; later ones for three.",
    "Where the form is lost (see Annex A), a new one is made.",
    "The door on floor 3 stays shut.",
)
HAN_TITLES = ("總則", "申請程序", "罰則", "附件管理", "資料保存", "權利義務")
HAN_SENTENCES = (
    "員工應於三十日內提出申請，逾期不予受理。",
    "依第二條規定辦理者，不在此限。",
    "主管應保存紀錄五年，並於必要時提供查閱。",
    "前項費用不得逾新臺幣一千元。",
)


@dataclass
class Node:
    """A section of the tree; without a title it is a clause."""

    number: str
    title: str | None
    body: list[str]
    children: list[Node] = field(default_factory=list)


@st.composite
def decimal_trees(draw: st.DrawFn) -> list[Node]:
    """`1`, `1.1`, `1.1.1`: titles above, clauses or titles below."""
    depth = draw(st.integers(1, 3))
    titled_depth = draw(st.integers(1, depth))

    def level(prefix: str, at: int) -> list[Node]:
        nodes = []
        for count in range(1, draw(st.integers(2, 4)) + 1):
            number = f"{prefix}{count}"
            title = draw(st.sampled_from(TITLES)) if at <= titled_depth else None
            inner = level(f"{number}.", at + 1) if at < depth else []
            body = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3))
            nodes.append(Node(number, title, [] if inner and title else body, inner))
        return nodes

    return level("", 1)


@st.composite
def keyword_trees(draw: st.DrawFn) -> list[Node]:
    """`PART I`, `Article 1`, or `ARTICLE ONE`, `Section 1.1`: articles count throughout."""
    outer, inner = draw(
        st.sampled_from([("PART", "Article"), ("CHAPTER", "Section"), ("TITLE", "Rule")])
    )
    nodes, count = [], 0
    for part in range(1, draw(st.integers(1, 3)) + 1):
        children = []
        for _ in range(draw(st.integers(1, 4))):
            count += 1
            body = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3))
            title = draw(st.sampled_from(TITLES))
            children.append(Node(f"{inner} {count}", title, body))
        name = f"{outer} {roman_numeral(part).upper()}"
        nodes.append(Node(name, draw(st.sampled_from(TITLES)), [], children))
    return nodes


@st.composite
def han_trees(draw: st.DrawFn) -> list[Node]:
    """`第一章`, `第一條`, sometimes `第一條之一`."""
    nodes, count = [], 0
    for chapter in range(1, draw(st.integers(1, 3)) + 1):
        children = []
        for _ in range(draw(st.integers(1, 5))):
            count += 1
            numbers = [f"第{han_numeral(count)}條"]
            if draw(st.booleans()):
                numbers.append(f"{numbers[0]}之一")
            for number in numbers:
                body = draw(st.lists(st.sampled_from(HAN_SENTENCES), min_size=1, max_size=3))
                children.append(Node(number, None, body))
        title = draw(st.sampled_from(HAN_TITLES))
        nodes.append(Node(f"第{han_numeral(chapter)}章", title, [], children))
    return nodes


def printed(nodes: list[Node], *, style: str, width: int, mark: str, depth: int = 1) -> list[str]:
    """The paragraphs of a tree, in order."""
    lines: list[str] = []
    for node in nodes:
        is_han = node.number.startswith("第")
        number = node.number + (mark if node.number[0].isdigit() else "")
        body = ("" if is_han else " ").join(node.body)
        if node.title is None:
            lines.append(wrap(f"{number}{'　' if is_han else ' '}{body}", width))
        else:
            hashes = "#" * depth + " " if style == "md" else ""
            lines.append(f"{hashes}{number} {node.title}")
            if body:
                lines.append(wrap(body, width))
        lines += printed(node.children, style=style, width=width, mark=mark, depth=depth + 1)
    return lines


def wrap(text: str, width: int) -> str:
    """Hard-wrapped text; at width 0 as it is."""
    if not width:
        return text
    if text.isascii():
        return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False))
    return "\n".join(text[i : i + width // 2] for i in range(0, len(text), width // 2))


def outline(nodes: list[Node], path: tuple[str, ...] = ()) -> list[tuple[str | None, ...]]:
    found: list[tuple[str | None, ...]] = []
    for node in nodes:
        name = f"{node.number} {node.title}" if node.title else node.number
        found.append((node.number, node.title, *path, name))
        found += outline(node.children, (*path, name))
    return found


def count_tokens(text: str) -> int:
    return len(text.split()) + sum(char > "\u2fff" for char in text)


@settings(deadline=None, max_examples=150)
@given(
    st.one_of(decimal_trees(), keyword_trees(), han_trees()),
    st.sampled_from([("txt", 0), ("txt", 60), ("md", 0)]),
    st.sampled_from(["", "."]),
    st.booleans(),
)
def test_known_tree_is_recovered_exactly(
    nodes: list[Node], layout: tuple[str, int], mark: str, is_tight: bool
) -> None:
    style, width = layout
    gap = "\n" if is_tight and style == "txt" else "\n\n"
    text = gap.join(printed(nodes, style=style, width=width, mark=mark))
    parsed = parse(text.encode(), file_name=f"rules.{style}")
    sections = build_sections(parsed, fallback_title="T")
    found = [(s.number, s.title, *s.path) for s in sections]
    assert found == outline(nodes), text
    chunks = build_chunks(parsed, sections, count_tokens=count_tokens)
    kept = "".join("".join(c.text[c.overlap :].split()) for c in chunks)
    clauses = flat(nodes)
    words = "".join(
        "".join((("" if n.title else n.number + dot(n, mark)) + "".join(n.body)).split())
        for n in clauses
        if n.body
    )
    assert kept == words


def dot(node: Node, mark: str) -> str:
    return mark if node.number[0].isdigit() else ""


def flat(nodes: list[Node]) -> list[Node]:
    return [each for node in nodes for each in (node, *flat(node.children))]


@settings(deadline=None, max_examples=100)
@given(decimal_trees(), st.sampled_from(["", "."]), st.sampled_from([" ", "  ", "     "]))
def test_numbers_are_recovered_from_one_endless_line(
    nodes: list[Node], mark: str, gap: str
) -> None:
    pieces = []
    for node in flat(nodes):
        is_top = "." not in node.number
        title = f"{node.title}. " if node.title else ""
        words = " ".join(node.body) or "This part has the rules below."
        pieces.append(f"{node.number}{'.' if is_top else mark} {title}{words}")
    parsed = parse(gap.join(pieces).encode(), file_name="rules.txt")
    sections = build_sections(parsed, fallback_title="T")
    if len(parsed.text) < 1000:
        return  # a short document is no endless line
    assert [s.number for s in sections] == [node.number for node in flat(nodes)]
