"""The reference is complete, links lead somewhere, and decisions are numbered once.

What must be documented is read from the code, never listed here: whoever adds a setting,
command, option, error code or metric learns from this test that its heading is missing.
"""

from __future__ import annotations

import ast
import importlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest
from django.core.checks import registry
from django.core.management import load_command_class
from rest_framework import exceptions as drf

from evaluation.metrics.summary import metric_names
from qa.records import RefusalCode

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PACKAGES = ("documents", "qa", "evaluation", "legalqa")
# Read by us, but the system's or Django's own.
NOT_OURS = {"XDG_RUNTIME_DIR", "DJANGO_SETTINGS_MODULE", "HF_HUB_OFFLINE", "PATH"}
# Options that Django gives to every command.
OF_DJANGO = {
    "--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback",
    "--no-color", "--force-color", "--skip-checks",
}  # fmt: skip
READERS = ("text", "number", "real", "boolean", "items", "choice", "path")  # of legalqa.env
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]


def code_files() -> Iterator[Path]:
    """Every module of the product: no tests, no migrations."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if not {"tests", "migrations"} & set(path.parts):
                yield path


def trees() -> Iterator[ast.Module]:
    for path in code_files():
        yield ast.parse(path.read_text(encoding="utf-8"))


def headings(page: Path) -> list[str]:
    """The headings of a page without their marks, fenced code left out."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", page.read_text("utf-8"), flags=re.M | re.S)
    return [found.strip().replace("`", "") for found in re.findall(r"^#{1,6} +(.+)$", text, re.M)]


def section(page: Path, heading: str) -> str:
    """The text under a heading, up to the next one of its own or a higher level."""
    _, mark, rest = page.read_text("utf-8").partition(f"# {heading}\n")
    before = page.read_text("utf-8")[: -len(mark + rest)] if mark else ""
    level = len(before) - len(before.rstrip("#")) + 1
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.M)[0]


def missing(wanted: set[str], page: str) -> list[str]:
    return sorted(wanted - set(headings(REFERENCE / page)))


# --- Settings ----------------------------------------------------------------------------


def settings_read() -> set[str]:
    """Environment variables that code, the bootstrap script or the compose file reads."""
    found: set[str] = set()
    for tree in trees():
        for node in ast.walk(tree):
            found |= set(_variable_of(node))
    sql = (ROOT / "legalqa" / "bootstrap.sql").read_text("utf-8")
    found |= set(re.findall(r"\\getenv \w+ ([A-Z_]+)", sql))
    compose = (ROOT / "docker-compose.yml").read_text("utf-8")
    found |= set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", compose))
    example = (ROOT / ".env.example").read_text("utf-8")
    found |= set(re.findall(r"^#?([A-Z][A-Z_0-9]+)=", example, re.M))
    return found - NOT_OURS


def _variable_of(node: ast.AST) -> Iterator[str]:
    """The variable that one piece of code names: env.x("V"), environ.get("V"), V_VARIABLE = "V"."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=value, attr=attr), args=[ast.Constant(str(name)), *_]
        ):
            owner = ast.unparse(value)
            if (owner == "env" and attr in READERS) or owner.endswith("environ"):
                yield name
        case ast.Subscript(value=value, slice=ast.Constant(str(name))):
            if ast.unparse(value).endswith("environ"):
                yield name
        case ast.Assign(targets=[ast.Name(target)], value=ast.Constant(str(name))):
            if target.endswith("_VARIABLE"):
                yield name


def test_collector_of_settings_sees_each_way_to_read_one():
    assert {
        "LEGALQA_MODEL",  # env.text
        "LEGALQA_VAR_DIR",  # a constant
        "REDIS_URL",  # environ.get
        "LEGALQA_BACKUP_PASSWORD",  # SQL
        "REDIS_PASSWORD",  # compose
    } <= settings_read()


def test_every_setting_has_a_heading():
    assert missing(settings_read(), "settings.md") == []


def test_no_setting_is_documented_that_nothing_reads():
    named = {h for h in headings(REFERENCE / "settings.md") if re.fullmatch(r"[A-Z][A-Z_0-9]+", h)}
    elsewhere = "".join(
        path.read_text("utf-8") for path in (ROOT / "Makefile", ROOT / "bin" / "setup")
    ) + "".join(
        path.read_text("utf-8")
        for path in [ROOT / "conftest.py", *ROOT.rglob("tests/**/*.py")]
        if ".venv" not in path.parts and path != Path(__file__)
    )

    assert [name for name in sorted(named - settings_read()) if name not in elsewhere] == []


def test_every_setting_states_its_default():
    page = REFERENCE / "settings.md"

    without = [
        name
        for name in sorted(settings_read())
        if not re.search(r"^(Default|Required|Set by)", section(page, name).strip(), re.M)
    ]

    assert without == []


# --- Commands ----------------------------------------------------------------------------


def commands() -> list[tuple[str, str]]:
    """(app, command) of every management command of ours."""
    found = ROOT.glob("*/management/commands/[!_]*.py")
    return sorted((path.parts[-4], path.stem) for path in found if path.parts[-4] in PACKAGES)


def programs() -> set[str]:
    """Modules that are run with `python -m`."""
    made = {p for p in code_files() if 'if __name__ == "__main__"' in p.read_text("utf-8")}
    return {".".join(p.relative_to(ROOT).with_suffix("").parts) for p in made}


def test_every_command_has_a_heading():
    assert missing({name for _, name in commands()} | programs(), "commands.md") == []


@pytest.mark.parametrize(("app", "name"), commands())
def test_every_option_of_a_command_is_named_in_its_section(app, name):
    parser = load_command_class(app, name).create_parser("manage.py", name)
    options = {o for action in parser._actions for o in action.option_strings if o[:2] == "--"}
    text = section(REFERENCE / "commands.md", name)

    assert [o for o in sorted(options - OF_DJANGO) if not re.search(rf"{o}(?![\w-])", text)] == []


@pytest.mark.parametrize(("app", "name"), commands())
def test_every_command_has_an_example_and_its_exit_statuses(app, name):
    text = section(REFERENCE / "commands.md", name)

    assert f"manage.py {name}" in text
    assert re.search(r"^Exit status", text, re.M)


# --- Errors, refusals, metrics ------------------------------------------------------------

CODE_NAMES = ("code", "default_code")


def error_codes() -> set[str]:
    """Every literal code: of a class, a keyword, a Problem, a Notice, a constant of such."""
    found: set[str] = set()
    for tree in trees():
        for node in ast.walk(tree):
            found |= set(_codes_of(node))
    return found | _of_framework()


def _codes_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(body=body):
            for line in body:
                match line:
                    case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(str(code))):
                        if name in CODE_NAMES:
                            yield code
        case ast.Call(func=ast.Name("Problem"), args=[_, ast.Constant(str(code)), *_]):
            yield code
        case ast.Call(func=ast.Name("Notice" | "_unavailable"), args=[ast.Constant(str(code)), *_]):
            yield code
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value)


def _of_framework() -> set[str]:
    """The codes that Django REST framework gives to what it raises by itself."""
    raised = (
        drf.ParseError, drf.AuthenticationFailed, drf.NotAuthenticated, drf.PermissionDenied,
        drf.NotFound, drf.MethodNotAllowed, drf.NotAcceptable, drf.UnsupportedMediaType,
        drf.Throttled,
    )  # fmt: skip
    return {error.default_code for error in raised}


def constants_of_codes() -> set[str]:
    """Codes that are constants: found as the value of `code=NAME`."""
    found: set[str] = set()
    for tree in trees():
        used = {
            keyword.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            for keyword in node.keywords
            if keyword.arg == "code" and isinstance(keyword.value, ast.Name)
        }
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(str(code))):
                    found |= {code} if name in used and name.isupper() else set()
    return found


def test_collector_of_codes_sees_each_way_to_write_one():
    assert {
        "unknown_label",  # a class
        "as_of_in_future",  # a keyword
        "internal_error",  # a Problem
        "no_headings",  # a Notice
        "database_down",  # through a function
        "throttled",  # the framework's
    } <= error_codes()
    assert "model_spending_limit" in constants_of_codes()


def test_every_error_code_has_a_heading():
    assert missing(error_codes() | constants_of_codes(), "errors.md") == []


def test_every_refusal_code_has_a_heading():
    assert issubclass(RefusalCode, StrEnum)
    assert missing({code.value for code in RefusalCode}, "errors.md") == []


def test_every_system_check_of_ours_has_a_heading():
    checks = {f for f in registry.registry.get_checks() if f.__module__.split(".")[0] in PACKAGES}
    sources = {Path(str(importlib.import_module(f.__module__).__file__)) for f in checks}
    ids = {i for s in sources for i in re.findall(r'id="(\w+\.[EW]\d+)"', s.read_text("utf-8"))}

    assert ids
    assert missing(ids, "errors.md") == []


def test_every_metric_has_a_heading():
    assert missing(set(metric_names(5)), "metrics.md") == []


# --- Links, indexes, decisions ------------------------------------------------------------


def links(page: Path) -> list[str]:
    """The relative targets of a page, images too, code left out."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", page.read_text("utf-8"), flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    targets = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", text)
    targets += re.findall(r"^\[[^\]]+\]: +(\S+)", text, re.M)
    return [t for t in targets if not re.match(r"[a-z][a-z0-9+.-]*:|//", t)]


def anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page get, as GitHub makes them."""
    made: Counter[str] = Counter()
    found = set()
    for heading in headings(page):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).casefold()
        kept = "".join(c for c in words if c in " -_" or unicodedata.category(c)[0] in "LNM")
        slug = kept.replace(" ", "-")
        found.add(f"{slug}-{made[slug]}" if made[slug] else slug)
        made[slug] += 1
    return found


def _leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors(target)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    assert [link for link in links(page) if _leads_nowhere(page, link)] == []


def test_link_check_sees_a_missing_page_and_a_missing_anchor(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_docs.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](gone.md) [b](#here) [c](#gone) `[d](code.md)` [e](https://x.y)\n")

    assert [link for link in links(page) if _leads_nowhere(page, link)] == ["gone.md", "#gone"]


def _not_linked(index: Path, pages: list[Path]) -> list[str]:
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    return [str(page.relative_to(ROOT)) for page in pages if page not in linked | {index}]


def test_index_names_every_page():
    pages = [page for page in PAGES if page.parent.name != "adr" or page.name == "README.md"]

    assert _not_linked(DOCS / "README.md", pages) == []


def test_decisions_are_listed_and_numbered_once():
    decisions = [page for page in PAGES if page.parent.name == "adr" and page.name != "README.md"]
    numbers = Counter(page.name[:4] for page in decisions)

    assert all(re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", page.name) for page in decisions)
    assert [number for number, count in numbers.items() if count > 1] == []
    assert _not_linked(DOCS / "adr" / "README.md", decisions) == []
