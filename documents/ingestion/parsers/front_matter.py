"""Front matter of a Markdown file: YAML between `---` or TOML between `+++`, at its very start.

What is no mapping is no front matter but text between two rules, and stays in the text.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

import yaml

from documents.records import Notice

_YAML = re.compile(
    r"\A---[^\S\n]*\n(.*?)^(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML = re.compile(r"\A\+\+\+[^\S\n]*\n(.*?)^\+\+\+[^\S\n]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"^([A-Za-z][\w \-]{0,40}):(?:[^\S\n]+(.*))?$", re.MULTILINE)
_MAX_SIZE = 50_000  # characters; more is no front matter
_MAX_VALUE = 2_000


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stood before the text."""

    source: str = ""
    body: str = ""
    values: dict[str, str] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()


def split_front_matter(text: str) -> FrontMatter:
    """Part a file into its front matter and the text after it."""
    for pattern, read in ((_YAML, _from_yaml), (_TOML, _from_toml)):
        match = pattern.match(text)
        if match and len(match[1]) <= _MAX_SIZE:
            loaded = read(match[1])
            if isinstance(loaded, dict):
                values = {str(key): _plain(value) for key, value in loaded.items()}
                return FrontMatter(match[1], text[match.end() :], values)
            if loaded is None and _PAIR.search(match[1]):
                return _broken(match[1], text[match.end() :])
    return FrontMatter(body=text)


def _broken(source: str, body: str) -> FrontMatter:
    message = (
        "The front matter is not valid and only its plain lines were read. Check the title and"
        " the dates of this version."
    )
    lines = {} if "&" in source or "*" in source else dict(_PAIR.findall(source))
    values = {
        key: value.strip("'\" ")[:_MAX_VALUE] for key, value in lines.items() if _is_plain(value)
    }
    return FrontMatter(source, body, values, (Notice("bad_front_matter", message),))


def _is_plain(value: str) -> bool:
    return bool(value) and not value.startswith(("!", "|", ">", "{", "["))


def _from_yaml(source: str) -> object:
    """The loaded value; None where it is broken. Aliases are refused: they can fill the memory."""
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(source)):
            return None
        return yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None


def _from_toml(source: str) -> object:
    try:
        return tomllib.loads(source)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)[:_MAX_VALUE]
    return str(value)[:_MAX_VALUE]
