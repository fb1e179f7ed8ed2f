"""Writes rows of an archive into the database, every value as it was.

What a row refers to is looked up by name, once for each batch. A person who is not known here
becomes an account without a password that is not active: it keeps its name on record and opens
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import models

from documents import access, vectors
from documents.corpus import values
from documents.corpus.conflicts import batches
from documents.corpus.tables import NATURAL, Model, Table
from documents.errors import ValidationProblem
from documents.models import (
    AccessClass,
    AccessLabel,
    AllowedDomain,
    Chunk,
    ChunkTerms,
    ChunkVector,
    LabelGrant,
    ManagedDepartment,
    PolicyVersion,
    VersionDetail,
)

# Rows that may be here already, known by these columns: they then stay as they are.
_SHARED: dict[Model, tuple[str, ...]] = {
    AccessLabel: ("slug",),
    AllowedDomain: ("host",),
    LabelGrant: ("label_id", "group_id", "user_id"),
    ManagedDepartment: ("user_id", "department"),
}


class Writer:
    """Writes the tables of one archive, in order."""

    def __init__(self) -> None:
        self.new_people: set[str] = set()
        self._classes: dict[tuple[str, ...], AccessClass] = {}

    def write(self, table: Table, rows: Iterable[dict[str, Any]]) -> int:
        """Write the rows of one table; returns how many there were."""
        count = 0
        for some in batches(rows):
            count += len(some)
            self._write(table, some)
        return count

    def _write(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        found = {
            column.name: self._named(_target(column), [row[column.name] for row in rows])
            for column in table.references
            if column.related_model is not table.model
        }
        made = [self._instance(table, row, found) for row in rows]
        for name, model in table.ids_in.items():
            _put_ids(made, name, model)
        if table.model in _SHARED:
            made = [one for one in made if not _is_here(one)]
        _create(table.model, made)
        self._link_parents(table, rows, made)
        if table.has_labels:
            _set_labels(table, rows, made)

    def _instance(
        self, table: Table, row: dict[str, Any], found: dict[str, dict[Any, int]]
    ) -> models.Model:
        given = {
            column.attname: values.read(column, row[column.attname]) for column in table.columns
        }
        for column in table.references:
            name = row[column.name]
            if column.name in found and name is not None:
                key = tuple(name) if isinstance(name, list) else name
                given[column.attname] = found[column.name][key]
        return table.model(**given)

    def _named(self, model: Model, names: Sequence[Any]) -> dict[Any, int]:
        """The keys of the rows of a model that are named."""
        if model is AccessClass:
            return {tuple(name): self._class(tuple(name)).pk for name in names}
        wanted = {name for name in names if name is not None}
        natural = NATURAL[model]
        rows = model._default_manager.filter(**{f"{natural}__in": wanted})
        found = {str(name): pk for name, pk in rows.values_list(natural, "pk")}
        missing = sorted(wanted - found.keys())
        if missing and model is get_user_model():
            found |= self._new_people(missing)
        elif missing and model is Group:
            found |= {name: Group.objects.create(name=name).pk for name in missing}
        elif missing:
            raise ValidationProblem(
                f"The archive is damaged: {model._meta.verbose_name} {missing[0]} is not in it. "
                "Nothing was changed. Export it anew.",
                code="bad_archive",
            )
        return found

    def _new_people(self, names: Sequence[str]) -> dict[str, int]:
        made = {}
        for name in names:
            person = get_user_model().objects.create_user(name, is_active=False)
            made[name] = person.pk
            self.new_people.add(name)
        return made

    def _class(self, slugs: tuple[str, ...]) -> AccessClass:
        if slugs not in self._classes:
            self._classes[slugs] = access.class_for(access.require_labels(slugs))
        return self._classes[slugs]

    def _link_parents(
        self, table: Table, rows: Sequence[dict[str, Any]], made: Sequence[models.Model]
    ) -> None:
        """Set what refers to a row of the same table: it is there by now."""
        for column in table.references:
            if column.related_model is not table.model:
                continue
            found = self._named(table.model, [row[column.name] for row in rows])
            for row, instance in zip(rows, made, strict=True):
                if row[column.name] is not None:
                    setattr(instance, column.attname, found[row[column.name]])
            table.model._default_manager.bulk_update(made, [column.name], batch_size=200)

    def write_near_duplicates(self, rows: Iterable[dict[str, Any]]) -> None:
        """Put the ids of this database where those of the other were."""
        for some in batches(rows):
            wanted = [row["version"] for row in some]
            wanted += [one["version"] for row in some for one in row["near"]]
            ids = self._named(PolicyVersion, wanted)
            details = VersionDetail.objects.in_bulk([ids[row["version"]] for row in some])
            for row in some:
                detail = details[ids[row["version"]]]
                detail.near_duplicates = [
                    {**one, "version": ids[one["version"]]} for one in row["near"]
                ]
            VersionDetail.objects.bulk_update(details.values(), ["near_duplicates"])

    def write_vectors(self, model: str, rows: Iterable[dict[str, Any]]) -> int:
        """Store the vectors where this installation keeps those of the model."""
        index = vectors.active()
        if index.spec.name != model:
            raise ValidationProblem(f"The vectors are of {model}, not of {index.spec.name}.")
        count = 0
        for some in batches(rows):
            count += len(some)
            ids = self._named(Chunk, [row["chunk"] for row in some])
            exact = {ids[row["chunk"]]: values.vector_read(row["vector"]) for row in some}
            if any(vector.dimensions() != index.spec.dimension for vector in exact.values()):
                raise ValidationProblem("The archive is damaged: a vector has another dimension.")
            if index.is_in_chunk:
                _put_in_chunks(exact, model)
            else:
                ChunkVector.objects.bulk_create(
                    ChunkVector(chunk_id=pk, model_id=index.row_id, embedding=vector)
                    for pk, vector in exact.items()
                )
        return count


def _put_in_chunks(exact: dict[int, Any], model: str) -> None:
    chunks = Chunk.objects.in_bulk(exact.keys())
    for pk, chunk in chunks.items():
        chunk.embedding, chunk.embedding_model = exact[pk], model
        chunk.live = chunk.effective_from is not None
    Chunk.objects.bulk_update(
        chunks.values(), ["embedding", "embedding_model", "live"], batch_size=200
    )


def _target(column: models.ForeignKey[Any, Any]) -> Model:
    return column.related_model


def _put_ids(made: Sequence[models.Model], name: str, model: Model) -> None:
    wanted = {public_id for one in made for public_id in getattr(one, name) if public_id}
    rows = model._default_manager.filter(public_id__in=wanted)
    ids = {str(public_id): pk for public_id, pk in rows.values_list("public_id", "pk")}
    for one in made:
        setattr(one, name, [ids.get(public_id, 0) for public_id in getattr(one, name)])


def _create(model: Model, made: Sequence[models.Model]) -> None:
    """Insert rows with the times that they had: Django would set the present one."""
    if model is ChunkTerms:
        _take_classes_of_chunks(cast("Sequence[ChunkTerms]", made))
    automatic = [
        column.attname
        for column in model._meta.concrete_fields
        if getattr(column, "auto_now", False) or getattr(column, "auto_now_add", False)
    ]
    before = [[getattr(one, name) for name in automatic] for one in made]
    model._default_manager.bulk_create(made, batch_size=200)
    if not automatic:
        return
    for one, own in zip(made, before, strict=True):
        for name, value in zip(automatic, own, strict=True):
            setattr(one, name, value)
    model._default_manager.bulk_update(made, automatic, batch_size=200)


def _is_here(instance: models.Model) -> bool:
    key = {name: getattr(instance, name) for name in _SHARED[type(instance)]}
    return type(instance)._default_manager.filter(**_nulls(key)).exists()


def _nulls(key: dict[str, Any]) -> dict[str, Any]:
    return {
        name if value is not None else f"{name}__isnull": value if value is not None else True
        for name, value in key.items()
    }


def _take_classes_of_chunks(made: Sequence[ChunkTerms]) -> None:
    rows = Chunk.objects.filter(pk__in=[one.chunk_id for one in made])
    classes = dict(rows.values_list("pk", "access_class"))
    for one in made:
        one.access_class = classes[one.chunk_id]


def _set_labels(table: Table, rows: Sequence[dict[str, Any]], made: Sequence[models.Model]) -> None:
    column = table.model._meta.get_field(table.has_labels or "")
    through = column.remote_field.through  # type: ignore[union-attr]  # many to many
    slugs = {slug for row in rows for slug in row["labels"]}
    labels = {label.slug: label.pk for label in access.require_labels(slugs)}
    own = f"{table.model._meta.model_name}_id"
    through.objects.bulk_create(
        [
            through(**{own: instance.pk, "accesslabel_id": labels[slug]})
            for row, instance in zip(rows, made, strict=True)
            for slug in row["labels"]
        ],
        batch_size=500,
    )
