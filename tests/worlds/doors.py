"""Every door through which a reader gets something, each one function.

A door asks as the reader of a visit and tells the tally what the model says that it must and
may give. Add a door by adding a function to `DIRECT` (cheap: in this process), `SERVED` (by
requests) or `ANSWERED` (asking, which is dearest).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from asgiref.sync import async_to_sync
from django.test import override_settings

from documents import access
from documents.errors import ValidationProblem
from documents.models import Chunk, ChunkTerms, Policy, PolicyVersion, Section
from qa import pipeline
from qa.answering.present import outcome_json, source_json
from qa.pipeline import Asked
from qa.retrieval.search import Scope
from tests.worlds import model, shapes
from tests.worlds.build import Answered, Result
from tests.worlds.model import Sight
from tests.worlds.tally import Tally
from tests.worlds.visit import QUESTION, Told, Visit

Door = Callable[[Visit, Tally], None]
NO_SLUG = "policy-that-is-not-there"


def passages(sights: list[Sight]) -> set[str]:
    """What the passages of these tell: texts under their paths, titles and slugs."""
    found = set().union(*(one.words for one in sights))
    return found | {word for one in sights for word in named(one.policy)}


def named(policy: shapes.Policy) -> frozenset[str]:
    return shapes.words_in(policy.slug + policy.title)


def contacts(sights: list[Sight]) -> set[str]:
    return {word for one in sights for word in shapes.words_in(one.policy.contact)}


def _texts(sight: Sight) -> set[str]:
    return {chunk.word for chunks in sight.chunks.values() for chunk in chunks}


# In this process


def rows(visit: Visit, tally: Tally) -> None:
    """Every row that the database gives to the reader's role."""
    try:
        with access.reading_as(visit.reader, visit.as_of):
            chunks = list(Chunk.objects.values_list("pk", "text"))
            told = [text for _, text in chunks]
            told += Section.objects.values_list("display_title", flat=True)
            told += [f"{p.slug} {p.title} {p.contact} {p.category}" for p in Policy.objects.all()]
            versions = set(PolicyVersion.objects.values_list("pk", flat=True))
            terms = set(ChunkTerms.objects.values_list("pk", flat=True))
    except ValidationProblem:
        tally.same("rows", visit.who, "a day to come", visit.may_ask_for_day, False)
        return
    must = set().union(*(_own_words(one) | one.policy.words for one in visit.sights))
    tally.listed("rows", visit.who, visit.world, " ".join(told), must)
    seen = {visit.made.versions[one.policy.slug, one.version.number] for one in visit.sights}
    tally.same("rows", visit.who, "versions", versions, seen)
    tally.same("rows", visit.who, "terms", terms, {pk for pk, _ in chunks})


def _own_words(sight: Sight) -> set[str]:
    """Chunks with the headings of their own sections, without those above."""
    return set().union(
        *(
            {sight.version.sections[place].word, *(chunk.word for chunk in chunks)}
            for place, chunks in sight.chunks.items()
        )
    )


def candidates(visit: Visit, tally: Tally) -> None:
    """What the search finds, all of it and within one policy."""
    for scope in _scopes(visit):
        try:
            result = pipeline.search_passages(_asked(visit, scope=scope))
        except ValidationProblem:
            tally.same("search", visit.who, "a day to come", visit.may_ask_for_day, False)
            continue
        told = json.dumps([source_json(passage) for passage in result.passages])
        tally.listed("search", visit.who, visit.world, told, passages(_in(visit, scope)))


def _scopes(visit: Visit) -> list[Scope]:
    number = visit.made.today.toordinal() + visit.who.day + len(visit.who.person)
    policies = visit.world.policies
    chosen = [policies[number % len(policies)].slug] if policies else []
    return [Scope(), *(Scope(policy=slug) for slug in chosen)]


def _in(visit: Visit, scope: Scope) -> list[Sight]:
    return [one for one in visit.sights if scope.policy in ("", one.policy.slug)]


def _asked(visit: Visit, *, scope: Scope, **more: Any) -> Asked:
    return Asked(visit.reader, QUESTION, as_of=visit.as_of, n_results=20, scope=scope, **more)


def sections(visit: Visit, tally: Tally) -> None:
    """Every policy put together from what may be read of it."""
    if not visit.may_ask_for_day:
        return
    for policy in visit.world.policies:
        with access.reading_as(visit.reader, visit.as_of) as reading:
            found = access.readable_sections(reading, policy.slug)
            found = access.with_references(reading, found)
        told = " ".join(f"{one.path} {one.policy_slug} {one.chunks}" for one in found)
        sight = visit.sight_of(policy.slug)
        must = sight.words | shapes.words_in(policy.slug) if sight else set()
        tally.thing("policy text", visit.who, policy.slug, told, must)


def originals(visit: Visit, tally: Tally) -> None:
    """Which files and pages of any version may be had."""
    if not visit.may_ask_for_day:
        return
    for policy, version in visit.some(_versions(visit)):
        sight = _sight(visit, policy, version)
        number, slug = version.number, policy.slug
        file = access.readable_file(visit.reader, slug, number, as_of=visit.as_of)
        has_file = sight is not None and sight.has_file
        tally.same("files", visit.who, f"{slug}@{number}", file is not None, has_file)
        wanted = sorted(model.pages_of(version))
        if wanted:
            pages = access.readable_pages(visit.reader, slug, number, wanted, as_of=visit.as_of)
            may = {page for page in wanted if sight is not None and sight.has_page(page)}
            tally.same("pages", visit.who, f"{slug}@{number}", set(pages), may)


def _versions(visit: Visit) -> Iterator[tuple[shapes.Policy, shapes.Version]]:
    return ((p, version) for p in visit.world.policies for version in p.versions)


def _sight(visit: Visit, policy: shapes.Policy, version: shapes.Version) -> Sight | None:
    sight = visit.sight_of(policy.slug)
    return sight if sight is not None and sight.version is version else None


# By requests


def lists(visit: Visit, tally: Tally) -> None:
    """The lists of policies and the reader's own labels, by API and on the page."""
    told = visit.get("/api/v1/policies")
    must = set().union(*(one.policy.words for one in visit.sights))
    tally.listed("API policies", visit.who, visit.world, told, must)
    if not visit.who.key:
        told = visit.get("/policies/")
        titles = set().union(*(named(one.policy) for one in visit.sights))
        tally.listed("page policies", visit.who, visit.world, told, titles, must)
        told = visit.get("/", with_day=False)
        tally.listed("page ask", visit.who, visit.world, told, ())


def policy_pages(visit: Visit, tally: Tally) -> None:
    """The page of every policy; one that may not be read is one that is not there."""
    if visit.who.key:
        return
    missing = visit.get(f"/policies/{NO_SLUG}/").masked(NO_SLUG)
    for policy in visit.some(visit.world.policies):
        told = visit.get(f"/policies/{policy.slug}/")
        sight = visit.sight_of(policy.slug)
        if sight is None and not versions_of(visit, policy):
            hidden = told.masked(policy.slug)
            tally.same("page policy", visit.who, policy.slug, hidden, missing)
        elif sight is None:  # a day without a version: those of other days
            tally.thing("page policy", visit.who, policy.slug, told, (), policy.words)
        else:
            must = _texts(sight) | shapes.words_in(policy.title)
            tally.thing("page policy", visit.who, policy.slug, told, must, visit.words)


def versions_of(visit: Visit, policy: shapes.Policy) -> dict[int, Sight]:
    """The versions of a policy of which something is read on their first day, by number."""
    found = {}
    for version in policy.versions:
        then = visit.at(version.first)
        sight = then.sight_of(policy.slug)
        if sight is not None and sight.version is version:
            found[version.number] = sight
    return found


def histories(visit: Visit, tally: Tally) -> None:
    """The versions of a policy, and what changed between each two of them."""
    for policy in visit.some(visit.world.policies):
        seen = versions_of(visit, policy)
        told = visit.get(f"/api/v1/policies/{policy.slug}/versions", with_day=False)
        numbers = {row["number"] for row in json.loads(_body(told)).get("versions", ())}
        tally.same("API history", visit.who, policy.slug, numbers, set(seen))
        if not seen:
            missing = visit.get(f"/api/v1/policies/{NO_SLUG}/versions", with_day=False)
            tally.same("API history", visit.who, policy.slug, told.masked(), missing.masked())
        told = visit.get(f"/policies/{policy.slug}/history/", with_day=False)
        may = policy.words if seen and not visit.who.key else ()
        tally.thing("page history", visit.who, policy.slug, _without(told, policy.slug), (), may)
        pairs = [(a.number, b.number) for a in policy.versions for b in policy.versions if a != b]
        for older, newer in visit.some(pairs):
            _changes(visit, tally, policy, seen, (older, newer))


def _changes(
    visit: Visit,
    tally: Tally,
    policy: shapes.Policy,
    seen: dict[int, Sight],
    pair: tuple[int, int],
) -> None:
    what, is_open = f"{policy.slug} {pair}", set(pair) <= set(seen)
    may = set().union(*(seen[n].words | policy.words for n in pair)) if is_open else set()
    for base in ("/api/v1", "") if not visit.who.key else ("/api/v1",):
        end = "" if base else "/"
        address = "/policies/{}/changes/{}/{}"
        told = visit.get(base + address.format(policy.slug, *pair) + end, with_day=False)
        name = f"{base or 'page'} changes"
        if is_open:
            tally.same(name, visit.who, what, told.status, 200)
            tally.thing(name, visit.who, what, told, (), may)
        else:
            missing = visit.get(base + address.format(NO_SLUG, 1, 2) + end, with_day=False)
            hidden = told.masked(policy.slug)
            tally.same(name, visit.who, what, hidden, missing.masked(NO_SLUG))


def _body(told: Told) -> str:
    return told.text.split("\n", 1)[1]


def section_doors(visit: Visit, tally: Tally) -> None:
    """Every section by API, and some on their pages."""
    missing = _missing_section(visit)
    places = [(p, v, place) for p, v in _versions(visit) for place in range(len(v.sections))]
    for policy, version, place in visit.some(places):
        sight = _sight(visit, policy, version)
        word = version.sections[place].word
        for name, told in _section(visit, word):
            if sight is None or place not in sight.chunks:
                tally.same(name, visit.who, word, told.masked(), missing[name])
            else:
                must = sight.words_of(place) | shapes.words_in(policy.title)
                may = sight.words | policy.words  # neighbours and references
                tally.thing(name, visit.who, word, told, must, may)


def _section(visit: Visit, word: str) -> Iterator[tuple[str, Told]]:
    public_id = visit.made.sections[word][1]
    yield "API section", visit.get(f"/api/v1/sections/{public_id}", start=0, end=10)
    if not visit.who.key:
        yield "page section", visit.get(f"/sections/{public_id}/", start=0, end=10)


def _missing_section(visit: Visit) -> dict[str, tuple[int, str]]:
    nothing = visit.get(f"/api/v1/sections/{uuid4()}", start=0, end=10).masked()
    page = visit.get(f"/sections/{uuid4()}/", start=0, end=10).masked()
    return {"API section": nothing, "page section": page}


def files(visit: Visit, tally: Tally) -> None:
    """Every file, by API and by its page."""
    for base in ("/api/v1", "") if not visit.who.key else ("/api/v1",):
        missing = visit.get(f"{base}/policies/{NO_SLUG}/versions/1/file").masked(NO_SLUG)
        for policy, version in visit.some(_versions(visit)):
            sight = _sight(visit, policy, version)
            told = visit.get(f"{base}/policies/{policy.slug}/versions/{version.number}/file")
            what, name = f"{policy.slug}@{version.number}", f"{base or 'page'} file"
            if sight is None or not sight.has_file:
                tally.same(name, visit.who, what, told.masked(policy.slug), missing)
                continue
            must = {version.file_word, *(chunk.word for chunk in version.chunks)}
            must |= {section.word for section in version.sections}
            tally.thing(name, visit.who, what, told, must)


def page_images(visit: Visit, tally: Tally) -> None:
    """Every page of every file as an image, and with the boxes of words."""
    places = [(p, v, page) for p, v in _versions(visit) for page in sorted(model.pages_of(v))]
    for policy, version, page in visit.some(places):
        sight = _sight(visit, policy, version)
        is_open = sight is not None and sight.has_page(page)
        for name, told, is_given in _page(visit, policy, version, page, sight):
            what = f"{policy.slug}@{version.number} page {page}"
            tally.same(name, visit.who, what, told.status == 200, is_open and is_given)
            allowed = visit.words if is_open else ()
            tally.thing(name, visit.who, what, _without(told, policy.slug), (), allowed)


def _without(told: Told, slug: str) -> str:
    """A refused page repeats its own address, which the reader has typed."""
    return told.text.replace(slug, "") if told.status != 200 else told.text


def _page(
    visit: Visit,
    policy: shapes.Policy,
    version: shapes.Version,
    page: int,
    sight: Sight | None,
) -> Iterator[tuple[str, Told, bool]]:
    """Name, response, and whether it goes by this address if the page may be seen at all."""
    if not visit.who.key:
        base = f"/policies/{policy.slug}/versions/{version.number}/pages/{page}"
        yield "page image", _bare(visit.get(f"{base}.png")), True
        yield "page of file", visit.get(f"{base}/"), True
    for place, section in enumerate(version.sections):
        if section.page == page or any(chunk.page == page for chunk in section.chunks):
            readable = sight.chunks.get(place, []) if sight else []
            is_on_page = any(chunk.page == page for chunk in readable)
            base = f"/api/v1/sections/{visit.made.sections[section.word][1]}/pages/{page}"
            yield "API page", visit.get(base), is_on_page


def _bare(told: Told) -> Told:
    """The fake image holds the whole file: whether it is given is what counts."""
    return Told(told.status, "") if told.status == 200 else told


def searches(visit: Visit, tally: Tally) -> None:
    """The search of the API; a hidden word is a word that stands nowhere."""
    for scope in _scopes(visit):
        given = {"question": QUESTION, "n_results": 20, "policy": scope.policy}
        told = visit.post("/api/v1/search", given)
        tally.listed("API search", visit.who, visit.world, told, passages(_in(visit, scope)))
    hidden = sorted(visit.world.words - visit.words)[:2]
    nothing = [_probe(visit, word) for word in ("zqzzzzqz", *hidden)]
    for word, found in zip(hidden, nothing[1:], strict=True):
        tally.same("API search", visit.who, f"the hidden {word}", found, nothing[0])


def _probe(visit: Visit, word: str) -> tuple[int, str]:
    given = {"question": f"What does {word} say of annual leave?", "n_results": 20}
    return visit.post("/api/v1/search", given).masked(word)


# Asking


def asks(visit: Visit, tally: Tally) -> None:
    """The answer of the API and its stored copy."""
    told = visit.post("/api/v1/ask", {"question": QUESTION, "n_results": 20})
    seen = visit.sights
    tally.listed("API ask", visit.who, visit.world, told, passages(seen), contacts(seen))
    if told.status == 200:
        texts = frozenset(set().union(*map(_texts, seen)))
        public_id = json.loads(_body(told))["id"]
        asked = Answered(
            visit.who.person, visit.who.day, public_id, texts, frozenset(passages(seen))
        )
        visit.made.answers.append(asked)


def stored(visit: Visit, tally: Tally) -> None:
    """Answers given before: the asker's own, while all that they rest on may be read."""
    told = visit.get("/history/", with_day=False) if not visit.who.key else Told(200, "")
    tally.listed("history", visit.who, visit.world, told, ())
    missing = {base: _answer(visit, base, str(uuid4())) for base in _answer_doors(visit)}
    for one in visit.some(visit.made.answers):
        then = visit.at(one.day)
        is_readable = one.texts <= set().union(*map(_texts, then.sights))
        for base, nothing in missing.items():
            told, name = _answer(visit, base, one.public_id), f"{base} answer"
            if one.person != visit.who.person or not visit.may_ask:
                tally.same(name, visit.who, one.public_id, told.masked(), nothing.masked())
            else:
                must, may = (one.texts, visit.world.words) if is_readable else ((), ())
                must = must if base.startswith("/api") else ()  # a page shows what is cited
                allowed = one.words | contacts(then.sights) if may else ()
                tally.thing(name, visit.who, one.public_id, told, must, allowed)


def _answer_doors(visit: Visit) -> tuple[str, ...]:
    return ("/api/v1/answers/",) if visit.who.key else ("/api/v1/answers/", "/history/")


def _answer(visit: Visit, base: str, public_id: str) -> Told:
    end = "" if base.startswith("/api") else "/"
    return visit.get(f"{base}{public_id}{end}", with_day=False)


def runs(visit: Visit, tally: Tally) -> None:
    """The pages of evaluation runs: questions that rest on what may be read, on their day."""
    if visit.who.key or visit.made.run is None:
        return
    seen = {one.word for one in visit.made.results if _is_seen(visit, one)}
    words = visit.world.words | {one.word for one in visit.made.results}
    told = visit.get("/evaluation/", with_day=False)
    tally.listed("evaluation runs", visit.who, visit.world, told, (), ())
    told = visit.get(f"/evaluation/{visit.made.run}/", with_day=False)
    missing = visit.get(f"/evaluation/{uuid4()}/", with_day=False)
    if seen:
        tally.thing("evaluation run", visit.who, "run", told, seen & words, ())
    else:
        tally.same("evaluation run", visit.who, "run", told.masked(), missing.masked())


def _is_seen(visit: Visit, result: Result) -> bool:
    then = visit.at(result.day)
    return result.texts <= set().union(*map(_texts, then.sights))


def streams(visit: Visit, tally: Tally) -> None:
    """The answer as server-sent events."""
    if not visit.may_ask_for_day or not visit.may_ask:
        return

    told = visit.stream()
    tally.listed(
        "SSE", visit.who, visit.world, told, passages(visit.sights), contacts(visit.sights)
    )


def prompts(visit: Visit, tally: Tally) -> None:
    """What goes over the wire to Claude: readable passages that may go to a hosted model."""
    if visit.claude is None or not visit.may_ask_for_day or not visit.may_ask:
        return
    for scope in _scopes(visit):
        before = len(visit.claude.bodies)
        with override_settings(
            ANTHROPIC_API_KEY="key",
            ANTHROPIC_BASE_URL=visit.claude.base_url,
            CONTEXT_TOKENS=100_000,
        ):
            finished = pipeline.ask(_asked(visit, scope=scope))
        sent = json.dumps(visit.claude.bodies[before:], ensure_ascii=False)
        seen = _in(visit, scope)
        is_sent = bool(seen) and all(one.hosted for one in seen)
        # An answer may be declined before the model is asked, never after: then nothing is sent.
        is_asked = is_sent and len(visit.claude.bodies) > before
        texts = set().union(*(one.words | named(one.policy) for one in seen)) if is_sent else set()
        must = set().union(*map(_texts, seen)) if is_asked else set()
        tally.listed("prompt", visit.who, visit.world, sent, must, texts)
        told = json.dumps(outcome_json(finished.outcome))
        tally.listed("answer", visit.who, visit.world, told, passages(seen), contacts(seen))


def tools(visit: Visit, tally: Tally) -> None:
    """The tools of MCP."""
    if visit.who.key or not visit.may_ask:
        return
    from mcp.server.mcpserver.exceptions import ToolError  # a second to import

    from qa.mcp.server import build_server

    server = build_server(visit.who.person)
    wanted = {word: str(ids[1]) for word, ids in visit.some(visit.made.sections.items())}

    async def call(name: str, **given: object) -> str:
        try:
            return str(await server.call_tool(name, given | {"as_of": visit.as_of.isoformat()}))
        except ToolError as error:
            return f"refused: {error}"

    told = async_to_sync(call)("search_policies", question=QUESTION, n_results=20)
    tally.listed("MCP search", visit.who, visit.world, told, passages(visit.sights))
    missing = async_to_sync(call)("get_section", section_id=str(uuid4()))
    for word, section_id in wanted.items():
        told = async_to_sync(call)("get_section", section_id=section_id)
        sight, place = _place(visit, word)
        if sight is None:
            tally.same("MCP section", visit.who, word, told, missing)
        else:
            must = sight.words_of(place)
            tally.thing("MCP section", visit.who, word, told, must, visit.words)


def _place(visit: Visit, word: str) -> tuple[Sight | None, int]:
    """Where a readable section is seen, by the word of its heading."""
    for sight in visit.sights:
        for place in sight.chunks:
            if sight.version.sections[place].word == word:
                return sight, place
    return None, 0


DIRECT: tuple[Door, ...] = (rows, candidates, sections, originals)
SERVED: tuple[Door, ...] = (
    lists,
    policy_pages,
    histories,
    section_doors,
    files,
    page_images,
    searches,
)
ANSWERED: tuple[Door, ...] = (asks, streams, prompts, tools, stored, runs)
EVERY: tuple[Door, ...] = DIRECT + SERVED + ANSWERED
