"""Every article of the shared law files is found with its exact number, in three layouts."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections
from documents.records import ParsedDocument, SectionRecord

SHARED = Path(os.environ.get("LEGALQA_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
FOLDERS = ("tw-traffic-law", "tw-law-general")
ARTICLE = re.compile(r"第.+條")

Article = dict[str, Any]
FromJson = dict[str, tuple[ParsedDocument, list[SectionRecord]]]


def _articles() -> dict[tuple[str, str], list[Article]]:
    found: dict[tuple[str, str], list[Article]] = defaultdict(list)
    for folder in FOLDERS:
        path = SHARED / folder / "articles.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            article = json.loads(line)
            found[folder, article["pcode"]].append(article)
    return found


LAWS = _articles()
needs_laws = pytest.mark.skipif(not LAWS, reason="LEGALQA_SHARED_DATA has no Taiwanese laws")


def _as_json(pcode: str, articles: list[Article]) -> bytes:
    parts: list[dict[str, str]] = []
    chapter = ""
    for article in articles:
        if article["chapter"] != chapter:
            chapter = article["chapter"]
            if chapter:
                parts.append({"ArticleType": "C", "ArticleNo": "", "ArticleContent": chapter})
        parts.append(
            {
                "ArticleType": "A",
                "ArticleNo": f"第 {article['article']} 條",
                "ArticleContent": article["text"].replace("\n", "\r\n"),
            }
        )
    url = f"https://law.moj.gov.tw/LawClass/LawAll.aspx?pcode={pcode}"
    law = {"LawName": articles[0]["law"], "LawURL": url, "LawArticles": parts}
    return json.dumps({"Laws": [law]}, ensure_ascii=False).encode()


def _markdown(folder: str, pcode: str) -> str:
    path = next((SHARED / folder / "laws").glob(f"{pcode}_*.md"))
    return path.read_text(encoding="utf-8")


def _own(parsed: ParsedDocument) -> list[SectionRecord]:
    """The sections that are articles."""
    sections = build_sections(parsed, fallback_title="T")
    return [s for s in sections if s.number and ARTICLE.fullmatch(s.number)]


@pytest.fixture(scope="module")
def from_json() -> FromJson:
    """Each law read from its JSON once, with its articles."""
    read: FromJson = {}
    for (_, pcode), articles in LAWS.items():
        parsed = parse(_as_json(pcode, articles), file_name="law.json")
        read[pcode] = parsed, _own(parsed)
    return read


@needs_laws
def test_no_article_of_the_json_is_missing_and_none_is_extra(from_json: FromJson) -> None:
    for (_, pcode), articles in LAWS.items():
        found = [section.number for section in from_json[pcode][1]]
        assert found == [f"第{each['article']}條" for each in articles], pcode


@needs_laws
@pytest.mark.parametrize("layout", ["md", "txt"])
def test_no_article_is_missing_and_none_is_extra(layout: str) -> None:
    for (folder, pcode), articles in LAWS.items():
        text = _markdown(folder, pcode)
        data = (re.sub(r"^#+ ", "", text, flags=re.M) if layout == "txt" else text).encode()
        found = [section.number for section in _own(parse(data, file_name=f"law.{layout}"))]
        assert found == [f"第{each['article']}條" for each in articles], pcode


@needs_laws
def test_text_and_official_page_of_each_article_are_exact(from_json: FromJson) -> None:
    for (_, pcode), articles in LAWS.items():
        parsed, own = from_json[pcode]
        links = {link.start: link.url for link in parsed.source_links}
        for section, article in zip(own, articles, strict=True):
            body = parsed.text[section.body_start : section.end]
            assert "".join(body.split()) == "".join(article["text"].split())
            assert links[section.start].endswith(f"?pcode={pcode}&flno={article['article']}")
