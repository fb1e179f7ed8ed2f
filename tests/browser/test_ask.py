"""The ask page in a real Chromium: streaming, badges, refusals, faults, keyboard, small screens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from qa.tests.fake_claude import FakeClaude
from qa.tests.fake_claude.replies import answer
from tests.browser.conftest import Visit, visiting

pytestmark = [pytest.mark.browser, pytest.mark.services]

ANSWERABLE = "Within how many hours must the supervisory authority be notified of a breach?"
NEAR_MISS = "How many days of annual leave may I sell back to the company?"
OFF_TOPIC = "Who won the football cup in 1987?"
QUOTE = "The Data Protection Officer shall notify the supervisory authority within 72 hours"
SENTENCE = (
    f"{QUOTE} after the company became aware of the breach, unless the breach is unlikely to "
    "result in a risk to persons."
)
PAYLOAD = "<img src=x onerror=alert(1)><script>alert(2)</script>"
SECTION = "/sections/7f1c9f0e-0000-4000-8000-000000000000/?as_of=2024-01-01"


def _citation(quote: str) -> dict[str, Any]:
    return {
        "n": 1,
        "document": "Leave",
        "version": 1,
        "effective_from": "2024-01-01",
        "section_id": "1",
        "section_title": "Annual leave",
        "quote": quote,
        "start": 0,
        "end": len(quote),
        "page": None,
        "chunk_id": None,
        "url": f"{SECTION}&start=0&end={len(quote)}#cited",
    }


def _source(text: str) -> dict[str, Any]:
    return {
        "document": "Leave",
        "policy": "leave",
        "version": 1,
        "effective_from": "2024-01-01",
        "effective_to": None,
        "section_id": "1",
        "section_title": "Annual leave",
        "section_path": ["Leave", "1 Annual leave"],
        "text": text,
        "has_pending_review": False,
        "url": SECTION,
    }


def _refused(code: str) -> dict[str, Any]:
    refusal = {
        "code": code,
        "message": "Not shown.",
        "missing": None,
        "looked_at": ["Leave"],
        "ask": "Ida",
        "top_score": None,
        "threshold": None,
    }
    return {
        "id": "7f1c9f0e-0000-4000-8000-000000000001",
        "status": "refused",
        "question": "?",
        "as_of": "2026-01-01",
        "claims": [],
        "sources": [],
        "confidence": None,
        "refusal": refusal,
        "steps": [],
        "notices": [],
    }


def _play(page: Page, *events: tuple[str, dict[str, Any]], end: str = "") -> None:
    """Answer the next questions with these events instead of the server's."""
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events) + end

    def fulfil(route: Route) -> None:
        route.fulfill(status=200, content_type="text/event-stream", body=body)

    page.route("**/api/v1/ask/stream", fulfil)


def test_an_answer_streams_and_its_badge_leads_to_the_marked_words(reader: Visit) -> None:
    page = reader.page

    reader.ask(ANSWERABLE)

    expect(page.get_by_text("The answer is complete.")).to_be_visible()
    expect(page.locator(".claim")).to_contain_text("within 72 hours")
    statuses = page.locator(".step").evaluate_all("all => all.map(e => e.dataset.status)")
    assert statuses == ["skipped", "ok", "ok", "ok", "ok"]
    expect(page.get_by_text("not legal advice")).to_be_visible()
    page.locator(".badge").first.click()
    expect(page.locator("#source-1 mark.is-active")).to_contain_text(QUOTE)
    expect(page.locator("#source-1")).to_be_focused()
    page.get_by_role("link", name="Open in the policy").first.click()
    expect(page.locator("mark#cited")).to_contain_text(QUOTE)
    expect(page.locator("mark#cited")).to_be_in_viewport()


def test_the_streamed_answer_is_the_stored_one(reader: Visit) -> None:
    page = reader.page
    reader.ask(ANSWERABLE)
    expect(page.get_by_text("The answer is complete.")).to_be_visible()
    parts = [".claim-text", ".badge", "#source-1 .source-title", "#source-1 .source-text", "mark"]

    def shown() -> list[list[str]]:
        return [page.locator(f"#content {part}").all_text_contents() for part in parts]

    streamed = shown()
    page.get_by_role("link", name="Link to this answer").click()
    page.wait_for_url("**/history/*/")

    assert shown() == streamed


@pytest.mark.parametrize("has_script", [True, False])
@pytest.mark.parametrize(("question", "code"), [(OFF_TOPIC, "below_threshold"), (NEAR_MISS, "")])
def test_a_refusal_gives_its_reason(
    chromium: Browser, site: str, question: str, code: str, has_script: bool
) -> None:
    with visiting(chromium, site, java_script_enabled=has_script) as visit:
        visit.log_in()
        visit.ask(question)

        expect(visit.page.get_by_role("heading", name="No answer")).to_be_visible()
        expect(visit.page.locator('[data-field="code"]')).to_contain_text(code)
        is_scored = visit.page.locator('[data-row="score"]').is_visible()
        assert is_scored == (code == "below_threshold")
        assert visit.page.locator(".claim").count() == 0


def test_everything_works_without_script(chromium: Browser, site: str) -> None:
    with visiting(chromium, site, java_script_enabled=False) as visit:
        visit.log_in()
        visit.ask(ANSWERABLE)

        expect(visit.page.locator(".claim")).to_contain_text("within 72 hours")
        visit.page.locator(".badge").first.click()
        expect(visit.page.locator("#source-1:target mark")).to_contain_text(QUOTE)
        visit.page.get_by_role("link", name="Open in the policy").first.click()
        expect(visit.page.locator("mark#cited")).to_contain_text(QUOTE)


def test_a_claim_is_shown_while_the_stream_runs_and_stopping_closes_the_model(
    chromium: Browser, claude_site: str, claude: FakeClaude
) -> None:
    claims = [{"text": SENTENCE, "citations": [{"passage": "p1", "quote": SENTENCE}]}]
    whole = {"answerable": True, "claims": claims, "missing": None, "confidence": "high"}
    claude.reply_with(answer(whole, stall_after='"missing"', stall_seconds=30))
    with visiting(chromium, claude_site) as visit:
        visit.log_in()
        visit.ask(ANSWERABLE)

        expect(visit.page.locator(".claim")).to_have_count(1)
        expect(visit.page.get_by_text("The answer is complete.")).to_have_count(0)
        visit.page.get_by_role("button", name="Stop").click()

        expect(visit.page.get_by_role("alert").filter(has_text="You stopped")).to_be_visible()
        assert claude.wait_for_disconnect(10)


def test_a_failed_later_claim_takes_the_earlier_one_away(
    chromium: Browser, claude_site: str, claude: FakeClaude
) -> None:
    true = {"text": SENTENCE, "citations": [{"passage": "p1", "quote": SENTENCE}]}
    false = {
        "text": "Directors may keep the breach secret.",
        "citations": [{"passage": "p1", "quote": "directors may keep the breach secret"}],
    }
    whole = {
        "answerable": True,
        "claims": [true, false],
        "missing": None,
        "confidence": "high",
    }
    claude.reply_with(whole)
    with visiting(chromium, claude_site) as visit:
        visit.log_in()
        visit.ask(ANSWERABLE)

        expect(visit.page.get_by_role("alert").filter(has_text="withdrawn")).to_be_visible()
        expect(visit.page.locator('[data-field="code"]')).to_have_text("quote_not_found")
        assert visit.page.locator(".claim").count() == 0
        assert "keep the breach secret" not in visit.page.locator("#result").inner_text()


def test_a_retraction_leaves_nothing_of_what_was_shown(reader: Visit) -> None:
    words = "Staff receive 27 days."
    claim = {"n": 1, "text": words, "citations": [_citation(words)]}
    _play(
        reader.page,
        ("sources", {"sources": [_source(words)]}),
        ("claim", claim),
        ("retracted", _refused("quote_not_found")),
    )

    reader.ask("?a")

    expect(reader.page.get_by_role("alert").filter(has_text="withdrawn")).to_be_visible()
    assert words not in reader.page.locator("#result").inner_text()


def test_a_lost_connection_is_told_apart_from_an_end(reader: Visit) -> None:
    words = "Staff receive 27 days."
    claim = {"n": 1, "text": words, "citations": [_citation(words)]}
    cut_off = 'event: answer\ndata: {"id": "7f1c'
    _play(reader.page, ("sources", {"sources": [_source(words)]}), ("claim", claim), end=cut_off)

    reader.ask("?a")

    expect(reader.page.get_by_role("alert").filter(has_text="connection was lost")).to_be_visible()
    expect(reader.page.locator(".answer.is-incomplete .claim")).to_have_count(1)
    expect(reader.page.get_by_text("The answer is complete.")).to_have_count(0)


def test_an_error_event_is_shown_as_an_error(reader: Visit) -> None:
    problem = {"type": "urn:x", "title": "x", "status": 503, "detail": "Try again shortly."}
    _play(reader.page, ("error", problem))

    reader.ask("?a")

    expect(reader.page.get_by_role("alert").filter(has_text="Try again shortly.")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (401, {}, {}, "log-in has expired"),
        (403, {}, {}, "log-in has expired"),
        (429, {"Retry-After": "17"}, {}, "again in 17 seconds"),
        (400, {}, {"detail": "The date lies in the future."}, "lies in the future"),
        (502, {}, None, "Something went wrong on our side"),
    ],
)
def test_each_fault_has_clear_words(
    reader: Visit, status: int, headers: dict[str, str], body: dict[str, str] | None, words: str
) -> None:
    text = "<html>bad gateway" if body is None else json.dumps(body)
    reader.page.route(
        "**/api/v1/ask/stream",
        lambda route: route.fulfill(status=status, headers=headers, body=text),
    )

    reader.ask("?a")

    expect(reader.page.get_by_role("alert").filter(has_text=words)).to_be_visible()
    expect(reader.page.locator("#ask-submit")).to_be_enabled()


def test_an_unreachable_server_is_told(reader: Visit) -> None:
    reader.page.route("**/api/v1/ask/stream", lambda route: route.abort("connectionrefused"))

    reader.ask("?a")

    expect(reader.page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()


def test_an_expired_log_in_can_be_renewed_in_another_tab(reader: Visit) -> None:
    page = reader.page
    page.context.clear_cookies()
    reader.ask(ANSWERABLE)
    with page.context.expect_page() as opened:
        page.get_by_role("alert").get_by_role("link", name="Log in").click()
    tab = Visit(opened.value, reader.address)
    tab.log_in()

    page.locator("#ask-submit").click()

    expect(page.get_by_text("The answer is complete.")).to_be_visible()


def test_what_comes_over_the_stream_stays_text(reader: Visit) -> None:
    claim = {"n": 1, "text": PAYLOAD, "citations": [_citation(PAYLOAD)]}
    citation = {**_citation(PAYLOAD), "document": PAYLOAD, "url": "javascript:alert(3)"}
    refusal = _refused("not_answerable")
    refusal["refusal"] |= {"missing": PAYLOAD, "looked_at": [PAYLOAD], "ask": PAYLOAD}
    source = {**_source(f"Before. {PAYLOAD} After."), "document": PAYLOAD, "policy": PAYLOAD}
    evil = {**source, "url": "javascript:alert(4)", "section_title": PAYLOAD}
    _play(
        reader.page,
        ("sources", {"sources": [source, evil]}),
        ("claim", claim),
        ("claim", {"n": 2, "text": PAYLOAD, "citations": [citation]}),
        ("refused", refusal | {"sources": [source, evil], "notices": [PAYLOAD]}),
    )

    reader.ask("?a")

    expect(reader.page.locator('[data-field="missing"]')).to_have_text(PAYLOAD)
    assert reader.page.locator("#result img, #result script").count() == 0
    links = reader.page.locator("#result a").evaluate_all("all => all.map(a => a.protocol)")
    assert set(links) <= {"http:"}


def test_the_counter_warns_and_holds_a_question_that_is_too_long(reader: Visit) -> None:
    reader.ask("x" * 1003)

    expect(reader.page.locator("#question-count")).to_have_text("3 characters too long")
    expect(reader.page.get_by_label("Your question")).to_have_attribute("aria-invalid", "true")
    assert reader.page.locator(".answer").count() == 0


def test_the_keyboard_alone_is_enough(reader: Visit) -> None:
    page = reader.page
    page.reload()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(ANSWERABLE)
    page.keyboard.press("Enter")
    expect(page.get_by_text("The answer is complete.")).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.badge')"):
            break
    expect(page.locator(".badge").first).to_be_focused()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#source-1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".badge").first).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways_at_320_pixels(chromium: Browser, site: str, scheme: str) -> None:
    small = {"width": 320, "height": 640}
    with visiting(chromium, site, viewport=small, color_scheme=scheme) as visit:
        visit.log_in()
        visit.ask(ANSWERABLE)
        expect(visit.page.get_by_text("The answer is complete.")).to_be_visible()
        _assert_no_sideways_scroll(visit.page)
        for path in ("/policies/", "/policies/data-protection/", "/history/"):
            visit.page.goto(f"{site}{path}")
            _assert_no_sideways_scroll(visit.page)


def _assert_no_sideways_scroll(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(chromium: Browser, site: str, scheme: str) -> None:
    with visiting(chromium, site, color_scheme=scheme) as visit:
        visit.log_in()
        visit.ask(ANSWERABLE)
        expect(visit.page.get_by_text("The answer is complete.")).to_be_visible()
        visit.page.locator(".badge").first.click()

        weak = visit.page.evaluate(_WEAK_CONTRASTS)

        assert weak == []


# The contrast of WCAG 2, of each element with words of its own against its nearest ground.
_WEAK_CONTRASTS = """
() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const linear = [r, g, b].map((c) => {
      const s = c / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {
    const words = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!words || !element.checkVisibility() || element.closest("[disabled], .skip")) continue;
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) weak.push(`${element.className}: ${contrast.toFixed(2)}`);
  }
  return weak;
}
"""


def test_the_language_changes_at_a_click(reader: Visit) -> None:
    reader.page.get_by_role("button", name="繁體中文").click()

    expect(reader.page.locator("html")).to_have_attribute("lang", "zh-hant")
    reader.page.locator(".example").nth(1).click()
    expect(reader.page.get_by_text("答案已完整。")).to_be_visible()
