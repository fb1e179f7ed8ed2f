"""Embedding models that vectors were made with, and vectors beside those of the chunks.

A chunk's own column holds the vectors of the model that the installation began with. Those of
any other model are rows of `ChunkVector`, of that model's dimension (ADR 0019).
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField


class EmbeddingModel(models.Model):
    """A model with which vectors were made; searches compare those of the active one alone."""

    class State(models.TextChoices):
        """One model is active; at most one is being built beside it."""

        BUILDING = "building"
        ACTIVE = "active"
        RETIRED = "retired"

    name = models.CharField(max_length=200, unique=True)  # the model and its revision
    source = models.CharField(max_length=500, blank=True)  # as the settings name it; "": bundled
    sha256 = models.CharField(max_length=64, blank=True)  # of its weights; "": as they are
    dimension = models.PositiveIntegerField()
    is_in_chunk = models.BooleanField(default=False)  # vectors are in the chunks' own column
    state = models.CharField(max_length=8, choices=State.choices, default=State.BUILDING)
    created_at = models.DateTimeField(auto_now_add=True)
    activated_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="active"), name="one_active_model"
            ),
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="building"), name="one_model_being_built"
            ),
            models.UniqueConstraint(
                fields=["is_in_chunk"], condition=Q(is_in_chunk=True), name="one_model_in_chunks"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["building", "active", "retired"]), name="model_state_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ChunkVector(models.Model):
    """A chunk's vector of a model that is not in the chunk's own column."""

    chunk = models.ForeignKey("documents.Chunk", on_delete=models.CASCADE, related_name="vectors")
    model = models.ForeignKey(EmbeddingModel, on_delete=models.PROTECT, related_name="+")
    embedding = HalfVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chunk", "model"], name="chunk_vector_once"),
        ]

    def __str__(self) -> str:
        return f"vector of chunk {self.chunk_id} by model {self.model_id}"
