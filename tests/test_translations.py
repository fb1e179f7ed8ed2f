"""The Traditional Chinese catalogue is complete, and what is committed is what was compiled."""

from __future__ import annotations

import gettext
import re
from pathlib import Path

import pytest
from django.template import engines
from django.utils import translation

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "locale" / "zh_Hant" / "LC_MESSAGES"
STRING = r'"((?:[^"\\]|\\.)*)"'
IN_TEMPLATE = re.compile(rf"{{%\s*(?:translate|trans)\s+{STRING}")
IN_CODE = re.compile(rf"(?:\b_|gettext(?:_lazy|_noop)?)\(\s*{STRING}\s*\)")


def entries() -> dict[str, list[str]]:
    """Message to translations, read from the source of the catalogue."""
    found: dict[str, list[str]] = {}
    for block in (CATALOGUE / "django.po").read_text("utf-8").split("\n\n"):
        parts = re.findall(rf"^(msgid|msgstr(?:\[\d\])?) ((?:{STRING}\n?)+)", block, re.M)
        texts = [(key, "".join(re.findall(STRING, text))) for key, text, *_ in parts]
        message = next((text for key, text in texts if key == "msgid"), "")
        if message:
            found[message] = [text for key, text in texts if key.startswith("msgstr")]
    return found


def strings_of_templates_and_code() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "templates").rglob("*.html"):
        texts = IN_TEMPLATE.findall(path.read_text("utf-8"))
        found |= {text.replace("%", "%%") for text in texts}
    for package in ("documents", "qa", "evaluation", "legalqa"):
        for path in (ROOT / package).rglob("*.py"):
            if "tests" not in path.parts:
                found |= set(IN_CODE.findall(path.read_text("utf-8")))
    return found


def test_every_string_of_pages_is_in_the_catalogue():
    assert {"Sources", "95 %% interval", "All runs"} <= strings_of_templates_and_code()
    assert sorted(strings_of_templates_and_code() - set(entries())) == []


def test_nothing_is_untranslated_or_only_guessed():
    assert [message for message, made in entries().items() if not all(made) or not made] == []
    assert "#, fuzzy" not in (CATALOGUE / "django.po").read_text("utf-8")


@pytest.mark.parametrize("message", sorted(entries()))
def test_translation_keeps_every_placeholder(message):
    wanted = set(re.findall(r"%\(\w+\)s", message))

    for made in entries()[message]:
        assert wanted <= set(re.findall(r"%\(\w+\)s", made))


def test_compiled_catalogue_holds_what_its_source_says():
    with (CATALOGUE / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    differing = [
        message
        for message, made in entries().items()
        if made[0] not in (compiled.gettext(message), compiled.ngettext(message, "", 1))
    ]
    assert differing == []


def test_template_with_a_percent_sign_is_translated():
    with translation.override("zh-hant"):
        page = engines["django"].from_string('{% load i18n %}{% translate "95 % interval" %}')

        assert page.render() == "95 % 區間"
