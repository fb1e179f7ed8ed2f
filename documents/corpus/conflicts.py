"""What of an archive would meet with something that an installation holds already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

from documents import vectors
from documents.models import (
    AccessLabel,
    EmbeddingModel,
    ForeignChain,
    MirroredFile,
    Policy,
    PolicyVersion,
)

_BATCH = 500


class Rows(Protocol):
    """An archive, as far as it is needed here."""

    @property
    def manifest(self) -> dict[str, Any]:
        """What it says of itself."""

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a member."""

    def named(self, folder: str) -> list[str]:
        """The members of a folder."""


def batches(rows: Iterable[dict[str, Any]], size: int = _BATCH) -> Iterator[list[dict[str, Any]]]:
    """Rows in lists of at most `size`."""
    left = iter(rows)
    while some := list(islice(left, size)):
        yield some


def conflicts(source: Rows, *, with_vectors: bool) -> list[str]:
    """Sentences on what stands in the way of an import; empty: nothing does."""
    found = [*_model(source, with_vectors), *_labels(source), *_policies(source)]
    for some in batches(source.rows("tables/policyversion.jsonl")):
        ids = [row["public_id"] for row in some]
        for version in PolicyVersion.objects.filter(public_id__in=ids).select_related("policy"):
            found.append(f"The version {version} is here already.")
    for some in batches(source.rows("tables/mirroredfile.jsonl")):
        for row in some:
            key = {"mirror": row["mirror"], "path": row["path"]}
            if MirroredFile.objects.filter(**key).exists():
                found.append(f"{row['path']} of the mirror {row['mirror']} is known here already.")
    names = [name.removesuffix(".jsonl") for name in source.named("audit/")]
    for chain in ForeignChain.objects.filter(public_id__in=names):
        found.append(f"The audit trail {chain.public_id} was imported before.")
    return found


def _model(source: Rows, with_vectors: bool) -> Iterator[str]:
    told = source.manifest["model"]
    if not told or not with_vectors:
        return
    here = EmbeddingModel.objects.filter(state=EmbeddingModel.State.ACTIVE).first()
    name = here.name if here is not None else vectors.live().spec.name
    if name != told["name"]:
        yield (
            f"The vectors of the archive were made with {told['name']}, and those here are made "
            f"with {name}. Set LEGALQA_EMBEDDING_MODEL to that model, or import it "
            "--without-vectors and then run reindex."
        )


def _labels(source: Rows) -> Iterator[str]:
    """Labels of one name that mean something else: text would open or close by accident."""
    for row in source.rows("tables/accesslabel.jsonl"):
        label = AccessLabel.objects.filter(slug=row["slug"]).first()
        if label is None:
            continue
        if label.role != row["role"]:
            yield f"The label {label.slug} is here a {label.role}, in the archive a {row['role']}."
        if label.hosted_model_allowed != row["hosted_model_allowed"]:
            yield (f"The label {label.slug} says otherwise here whether hosted models may read it.")


def _policies(source: Rows) -> Iterator[str]:
    for some in batches(source.rows("tables/policy.jsonl")):
        by_slug = Policy.objects.filter(slug__in=[row["slug"] for row in some])
        by_id = Policy.objects.filter(public_id__in=[row["public_id"] for row in some])
        for policy in by_slug | by_id:
            yield f"The policy {policy.slug} is here already."
