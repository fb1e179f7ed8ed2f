"""What a person does not see on a page goes apart, and what surrounds the text goes away."""

from __future__ import annotations

import pytest

from documents.ingestion.active import active_warnings
from documents.records import ParsedDocument
from documents.tests.ingestion.test_html import lines, page

STYLE = (
    "<style>.x{color:white} #y{position:absolute;left:-9999px} p.z{font-size:0}"
    " .outer .inner{display:none} @media print{.p{display:none}} .h:hover{display:none}"
    " .dark{background:#000} .dark p{color:#fff} .big{display:none} .big{display:block}</style>"
)


def where(parsed: ParsedDocument) -> list[str]:
    return [hidden.where for hidden in parsed.hidden if "SECRET" in hidden.text]


@pytest.mark.parametrize(
    ("hiding", "kind"),
    [
        ("<p hidden>SECRET</p>", "hidden"),
        ("<p style='display: none !important'>SECRET</p>", "hidden"),
        ("<p style='VISIBILITY:Hidden'>SECRET</p>", "hidden"),
        ("<p style='opacity:0.01'>SECRET</p>", "hidden"),
        ("<p style='font-size:1px'>SECRET</p>", "tiny"),
        ("<p style='font-size:0.1em'>SECRET</p>", "tiny"),
        ("<p style='position:absolute;top:-9999px'>SECRET</p>", "off_page"),
        ("<p style='text-indent:-5000px'>SECRET</p>", "off_page"),
        ("<p style='transform:translateX(-9999px)'>SECRET</p>", "off_page"),
        ("<p style='position:absolute;clip:rect(0,0,0,0)'>SECRET</p>", "hidden"),
        ("<p style='clip-path:inset(100%)'>SECRET</p>", "hidden"),
        ("<p style='height:0;overflow:hidden'>SECRET</p>", "hidden"),
        ("<p style='color:#fff'>SECRET</p>", "white"),
        ("<p style='color:rgb(254, 254, 254)'>SECRET</p>", "white"),
        ("<p style='color:rgba(0,0,0,0)'>SECRET</p>", "white"),
        ("<p style='color:transparent'>SECRET</p>", "white"),
        ("<font color=white>SECRET</font>", "white"),
        ("<div style='background:navy'><p style='color:#000080'>SECRET</p></div>", "white"),
        ("<table><tr><td bgcolor=#ff0000><font color=red>SECRET</font><td>x</table>", "white"),
        ("<p class=x>SECRET</p>", "white"),
        ("<p id=y>SECRET</p>", "off_page"),
        ("<p class=z>SECRET</p>", "tiny"),
        ("<div class=outer><p class=inner>SECRET</p></div>", "hidden"),
        ("<span class=sr-only>SECRET</span>", "hidden"),
        ("<span aria-hidden=true>SECRET</span>", "hidden"),
        ("<noscript>SECRET</noscript>", "no_script"),
        ("<template><p>SECRET</p></template>", "hidden"),
        ("<iframe srcdoc='<p>SECRET</p>'></iframe>", "hidden"),
        ("<dialog>SECRET</dialog>", "hidden"),
        ("<!-- SECRET -->", "comment"),
        ("<img src=x alt=SECRET>", "alt_text"),
        ("<a href=/ title=SECRET>x</a>", "link_title"),
        ("<div style='opacity:0'><p style='visibility:visible'>SECRET</p></div>", "hidden"),
    ],
)
def test_hidden_text_is_kept_apart(hiding: str, kind: str) -> None:
    parsed = page(f"<p>Before it.</p>{hiding}<p>After it.</p>", STYLE)
    assert "SECRET" not in parsed.text
    assert parsed.text.startswith("Before it.")
    assert parsed.text.endswith("After it.")
    assert where(parsed) == [kind]


@pytest.mark.parametrize(
    "shown",
    [
        "<p class=p>SEEN</p>",  # hidden in print alone
        "<p class=h>SEEN</p>",
        "<div class=dark><p>SEEN</p></div>",
        "<p class=big>SEEN</p>",
        "<div style='font-size:0'><p style='font-size:12px'>SEEN</p></div>",
        "<div style='visibility:hidden'><p style='visibility:visible'>SEEN</p></div>",
        "<p style='background:url(x.png);color:#fff'>SEEN</p>",
        "<p style='position:absolute;left:40px'>SEEN</p>",
        "<p class=inner>SEEN</p>",
        "<p style='font-size:small;opacity:.9'>SEEN</p>",
        "<p class=hidden-costs>SEEN</p>",
        "<button>Open</button><div style='display:none'>SEEN</div>",
        "<a aria-controls=t1>Tab</a><div id=t1 hidden>SEEN</div>",
        "<div role=tabpanel style='display:none'>SEEN</div>",
        "<details><summary>x</summary>SEEN</details>",
    ],
)
def test_what_a_person_can_see_stays(shown: str) -> None:
    parsed = page(f"<p>Before it.</p>{shown}", STYLE)
    assert "SEEN" in parsed.text


def test_hidden_text_warns_and_a_page_without_script_does_not() -> None:
    assert [n.code for n in page("<p>x</p><p hidden>y</p>").warnings] == ["hidden_text"]
    without_script = page("<p>x</p><noscript>Switch on script.</noscript>")
    assert [*without_script.warnings, *active_warnings(without_script)] == []


# What surrounds the text

SITE = (
    "<a class=skip-link href=#main>Skip to content</a><header><img alt=Logo><nav><ul><li><a "
    "href=/>Home</a><li><a href=/hr>Human resources</a></ul></nav></header>"
    "<div class=breadcrumb><a href=/>Home</a> &gt; <a href=/p>Policies</a></div>"
    "<div id=cookie-banner>We use cookies to improve this site. <button>Accept all</button></div>"
    "{}<div class=share-bar><a href=x>Share</a> <a href=y>Tweet</a></div><aside><h3>Related</h3>"
    "<ul><li><a href=/t>Travel</a></ul></aside><footer><p>© 2026 Acme Ltd</p><a "
    "href=/imprint>Imprint</a></footer>"
)
BODY = (
    "<h1>Leave</h1><p>Staff have twenty days of leave a year, which they take in whole days and "
    "after they have asked their manager for it.</p><h2>Carry-over</h2><p>Five days may be "
    "carried over to the first quarter of the next year, and no more.</p>"
)


@pytest.mark.parametrize("wrap", ["{}", "<main>{}</main>", "<div class=content>{}</div>"])
def test_furniture_goes_and_text_stays(wrap: str) -> None:
    parsed = page(SITE.format(wrap.format(BODY)))
    assert lines(parsed) == lines(page(BODY))
    assert parsed.warnings == ()


@pytest.mark.parametrize(
    "body",
    [
        "<div class=cookie-policy><h2>Cookies</h2><p>We keep cookies for thirty days.</p></div>",
        "<aside><h2>Exceptions</h2><p>Contractors are not covered by this policy.</p></aside>",
        "<footer><h2>Approval</h2><p>The board approved this policy on 1 May 2026.</p></footer>",
        "<main><article><header><p>In force from 1 May.</p></header></article></main>",
        "<header><h1>Travel</h1><p>In force from 1 May.</p></header>",
        "<div class=sidebar-layout><p>Each trip is approved first. It is booked late.</p></div>",
        "<nav><h1>Rules of the house</h1></nav>",
    ],
)
def test_headed_text_and_prose_stay_wherever_they_stand(body: str) -> None:
    assert lines(page(f"<main>{BODY}</main>{body}"))[4:] == lines(page(body))
    assert len(lines(page(body))) >= 1


def test_list_of_the_pages_own_headings_goes() -> None:
    body = "".join(f"<h2 id={n}>Part {n}</h2><p>Text {n}.</p>" for n in "abc")
    contents = "".join(f"<li><a href=#{n}>Part {n}</a>" for n in "abc")
    assert page(f"<ul>{contents}</ul>{body}").text == page(body).text


def test_list_of_links_to_other_pages_stays() -> None:
    items = "".join(f"<li><a href=/{n}>Policy {n}</a>" for n in "abc")
    assert page(f"<h1>Policies</h1><ul>{items}</ul>").text.count("- Policy") == 3


def test_page_that_would_lose_most_of_its_text_keeps_all_and_warns() -> None:
    parsed = page("<nav>Only this is here, and it is the text.</nav><p>Short.</p>")
    assert "Only this is here" in parsed.text
    assert [notice.code for notice in parsed.warnings] == ["main_content_unclear"]
