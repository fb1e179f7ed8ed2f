"""Promise: while the embedding model changes, every search is exact in one model, old or new."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings

from documents import access, actions, embedding, pipeline, reindexing, vectors
from documents.access import Reader
from documents.embedding import ModelSpec, Source
from documents.errors import EmbeddingError, ValidationProblem
from documents.ingestion import analysis
from documents.models import Chunk, ChunkVector, EmbeddingModel, VersionState
from documents.tests import factories

pytestmark = pytest.mark.django_db
ENGLISH = frozenset({"en"})
SPECS = {
    name: ModelSpec(name or "old", "r1", dimension, ENGLISH, 256, "0" * 64)
    for name, dimension in {"": 384, "new": 16, "sibling": 384}.items()
}
QUESTION = "How many visits are allowed?"


class FakeModels:
    """Models of several dimensions: a direction for each text, another one in each model."""

    def __init__(self) -> None:
        self.broken: dict[str, Any] = {}  # what a model gives instead
        self.asked: list[str] = []

    def spec_at(self, source: Source) -> ModelSpec:
        return SPECS[source.name]

    def encode_passages(
        self, texts: Sequence[str], _language: str | None, *, source: Source
    ) -> Any:
        if source.name in self.broken:
            outcome = self.broken[source.name]
            if isinstance(outcome, BaseException):
                raise outcome
            return np.array([outcome] * len(texts), dtype=np.float32)
        self.asked += texts
        return np.array([direction(source.name, text) for text in texts], dtype=np.float32)

    def encode_query(self, text: str, _language: str | None, *, source: Source) -> Any:
        return direction(source.name, text)


def direction(model: str, text: str) -> np.ndarray:
    seed = zlib.crc32(f"{model}:{text}".encode())
    row = np.random.default_rng(seed).normal(size=SPECS[model].dimension)
    return (row / np.linalg.norm(row)).astype(np.float32)


@pytest.fixture
def models(monkeypatch, settings) -> FakeModels:
    """The fake models; the settings name the old one."""
    fake = FakeModels()
    for name in ("spec_at", "encode_passages", "encode_query"):
        monkeypatch.setattr(embedding, name, getattr(fake, name))
    monkeypatch.setattr(embedding, "count_tokens", lambda text: len(text.split()))
    settings.EMBEDDING_MODEL = None
    settings.EMBED_BATCH_CHUNKS = 4
    return fake


def text_of(name: str, sections: int = 5) -> str:
    body = "".join(
        f"## {n} Rule {n}\n\nThe {name} rule {n} allows {n} visits.\n\n"
        for n in range(1, sections + 1)
    )
    return f"# {name}\n\n{body}"


def cosines(question: str = QUESTION) -> dict[str, float]:
    """What a search gives, by the text of each passage."""
    index = vectors.live()
    vector = embedding.encode_query(question, "en", source=index.source).tolist()
    terms = analysis.query_terms(question, "en")
    with access.reading_as(Reader.with_labels(["all-staff"])) as reading:
        found = access.candidates(reading, vector, terms, index.searched)
        texts = dict(Chunk.objects.values_list("pk", "text"))
    compared = [hit for hit in found.hits if hit.cosine is not None]
    by_rank = sorted(compared, key=lambda hit: hit.dense_rank or 0)
    assert by_rank == sorted(compared, key=lambda hit: -(hit.cosine or 0))
    return {texts[hit.chunk_id]: hit.cosine for hit in found.hits if hit.cosine is not None}


def exact(model: str, question: str = QUESTION) -> dict[str, float]:
    """The same by brute force over every readable passage, outside the database."""
    with access.editing():
        rows = Chunk.objects.filter(effective_from__isnull=False).select_related("section")
        return {
            row.text: float(
                direction(model, pipeline.embedded_text(row)) @ direction(model, question)
            )
            for row in rows
        }


def assert_exact(model: str) -> None:
    for most in (25_000, 0):  # exact, and through an index of vectors
        with override_settings(RETRIEVAL_EXACT_MAX_CHUNKS=most):
            found, wanted = cosines(), exact(model)
        assert found.keys() == wanted.keys()
        assert found
        for text, cosine in found.items():
            assert cosine == pytest.approx(wanted[text], abs=2e-3)  # half precision


@pytest.mark.parametrize("new", ["new", "sibling"])
def test_answers_are_exact_in_one_model_before_during_and_after(models, settings, new):
    for name in ("archive", "canteen"):
        factories.published(text_of(name))
    assert_exact("")
    settings.EMBEDDING_MODEL = new
    assert_exact("")  # the settings alone change nothing
    index = reindexing.begin()
    assert_exact("")
    seen = []

    def look(done: int, wanted: int) -> None:
        seen.append((done, wanted))
        assert_exact("")

    reindexing.build(index, look)
    assert_exact("")
    assert seen == [(4, 10), (8, 10), (10, 10)]

    assert reindexing.switch(index)

    assert_exact(new)
    factories.published(text_of("parking"))
    assert_exact(new)
    assert reindexing.status().active == SPECS[new].name


def test_what_is_published_meanwhile_gets_vectors_of_both(models, settings):
    factories.published(text_of("archive"))
    settings.EMBEDDING_MODEL = "new"
    index = reindexing.begin()
    factories.published(text_of("canteen"))
    assert_exact("")
    models.asked.clear()

    reindexing.build(index, lambda *_: None)

    assert len(models.asked) == 5  # the archive alone was left
    assert reindexing.switch(index)
    assert_exact("new")


def test_a_build_that_was_broken_off_goes_on_where_it_was(models, settings):
    factories.published(text_of("archive", 10))
    settings.EMBEDDING_MODEL = "new"
    index = reindexing.begin()

    def stop(done: int, _wanted: int) -> None:
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindexing.build(index, stop)
    assert not reindexing.switch(index)
    status = reindexing.status()
    assert (status.building, status.done, status.wanted) == ("new@r1", 8, 10)
    models.asked.clear()

    call_command("reindex")

    assert len(models.asked) == 2
    assert_exact("new")


def test_a_build_that_fails_holds_up_no_publication_and_switches_only_when_whole(models, settings):
    factories.published(text_of("archive"))
    settings.EMBEDDING_MODEL = "new"
    index = reindexing.begin()
    reindexing.build(index, lambda *_: None)
    models.broken["new"] = EmbeddingError("The model is away.")
    version = factories.published(text_of("canteen"))
    assert version.state == VersionState.PUBLISHED

    assert not reindexing.switch(index)
    assert_exact("")
    models.broken.clear()
    reindexing.build(index, lambda *_: None)
    assert reindexing.switch(index)
    assert_exact("new")


def test_a_version_embedded_before_a_switch_is_embedded_again_before_it_is_published(
    models, settings
):
    factories.published(text_of("archive"))
    late = factories.parsed(text_of("canteen"))
    actions.approve_version(late.pk, reviewer=None)
    for batch in pipeline.batches_to_embed(late.pk):
        pipeline.embed_chunks(late.pk, batch)
    settings.EMBEDDING_MODEL = "new"
    call_command("reindex")

    pipeline.publish_version(late.pk)
    assert factories.version(late.pk).state == VersionState.INDEXING
    assert_exact("new")
    pipeline.index_here(late.pk)

    assert factories.version(late.pk).state == VersionState.PUBLISHED
    assert_exact("new")


@pytest.mark.parametrize(
    "row",
    [[1.0] + [0.0] * 14, [float("nan")] * 16, [0.0] * 16, [3.0] + [0.0] * 15],
    ids=["wrong dimension", "not a number", "zero", "not of length 1"],
)
def test_a_vector_that_is_of_no_use_is_refused_before_anything_is_written(models, settings, row):
    factories.published(text_of("archive"))
    settings.EMBEDDING_MODEL = "new"
    index = reindexing.begin()
    models.broken["new"] = row

    with pytest.raises(EmbeddingError, match="nothing was stored"):
        reindexing.build(index, lambda *_: None)

    with access.editing():
        assert not ChunkVector.objects.exists()
    assert not reindexing.switch(index)
    assert_exact("")


def test_vectors_of_another_model_in_the_same_column_are_never_compared(models):
    factories.published(text_of("archive"))
    with access.editing():
        stray = Chunk.objects.order_by("pk").first()
        assert stray is not None
        Chunk.objects.filter(pk=stray.pk).update(embedding_model="elsewhere@r9")

    assert stray.text not in cosines()
    assert len(cosines()) == 4


def test_files_that_are_no_longer_those_of_the_index_are_refused(models, monkeypatch):
    factories.published(text_of("archive"))
    changed = ModelSpec("old", "r2", 384, ENGLISH, 256, "1" * 64)
    monkeypatch.setattr(embedding, "spec_at", lambda _source: changed)

    with pytest.raises(EmbeddingError, match="Put the old files back"):
        vectors.live()


def test_a_build_can_be_abandoned_and_searches_do_not_notice(models, settings):
    factories.published(text_of("archive"))
    settings.EMBEDDING_MODEL = "new"
    reindexing.build(reindexing.begin(), lambda *_: None)
    settings.EMBEDDING_MODEL = "sibling"
    with pytest.raises(CommandError, match="--abandon"):
        call_command("reindex")

    call_command("reindex", "--abandon")

    with access.editing():
        assert not ChunkVector.objects.exists()
    assert_exact("")
    with pytest.raises(CommandError, match="nothing to abandon"):
        call_command("reindex", "--abandon")
    call_command("reindex")
    assert_exact("sibling")


def test_old_vectors_are_kept_for_the_way_back_until_they_are_dropped(models, settings):
    factories.published(text_of("archive"))
    settings.EMBEDDING_MODEL = "new"
    call_command("reindex")
    models.asked.clear()
    settings.EMBEDDING_MODEL = None
    call_command("reindex")
    assert models.asked == []
    assert_exact("")
    settings.EMBEDDING_MODEL = "new"
    call_command("reindex")

    call_command("reindex", "--drop-old")

    with access.editing():
        assert not Chunk.objects.filter(embedding__isnull=False).exists()
        assert EmbeddingModel.objects.get().name == "new@r1"
    assert_exact("new")


def test_passages_without_a_vector_are_made_up_for_without_a_change_of_model(models):
    factories.published(text_of("archive"))
    with access.editing():
        Chunk.objects.update(embedding=None, embedding_model="")
    assert reindexing.status().done == 0

    call_command("reindex")

    assert_exact("")


def test_a_reader_gets_no_vector_of_a_passage_that_is_not_theirs(models, settings):
    settings.EMBEDDING_MODEL = "new"
    factories.published(text_of("archive"))
    factories.published(text_of("board"), labels=("board",))

    with access.reading_as(Reader.with_labels(["all-staff"])):
        assert ChunkVector.objects.count() == 5
    with access.reading_as(Reader.with_labels(["board"])):
        assert ChunkVector.objects.count() == 5
    with access.reading_as(Reader.with_labels([])):
        assert ChunkVector.objects.count() == 0
    assert ChunkVector.objects.count() == 0  # outside any reading


def test_only_one_reindex_runs_at_a_time(models, monkeypatch):
    class Refusing:
        def __enter__(self) -> Refusing:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def execute(self, *_: object) -> None:
            return None

        def fetchone(self) -> tuple[bool]:
            return (False,)

    monkeypatch.setattr(connection, "cursor", Refusing)
    with pytest.raises(ValidationProblem, match="Another reindex"), reindexing.alone():
        pytest.fail("it began")
