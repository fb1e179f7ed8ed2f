"""Question sets, runs of them, and what became of each question.

All four tables stand under row-level security. A run keeps copies of its questions, so that it
reads the same after its set has changed. A reader sees a result only while they hold every
label that its question is asked with and may read every chunk that it rests on; a run's
figures over all questions are for staff, readers get those over the rows they see.
"""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models


class QuestionSet(models.Model):
    """One version of a named set; a changed import makes the next version."""

    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)  # of the questions, in order
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="one_set_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"


class Question(models.Model):
    """A labelled question; see `evaluation.records.LabelledQuestion`."""

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="questions"
    )
    ordinal = models.PositiveIntegerField()
    key = models.CharField(max_length=100, verbose_name="id in its file")
    question = models.TextField()
    answerable = models.BooleanField()
    expected = models.JSONField(default=list)  # [{document, section, quote}]
    terms = models.JSONField(default=list)
    forbidden = models.JSONField(default=list)
    labels = models.JSONField(default=list)
    as_of = models.DateField(null=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "key"], name="one_question_per_id")
        ]

    def __str__(self) -> str:
        return self.key


class EvaluationRun(models.Model):
    """A set asked once, from its first question to its figures; without an end it broke off."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question_set = models.ForeignKey(
        QuestionSet, null=True, on_delete=models.SET_NULL, related_name="runs"
    )  # None: asked from a file
    set_name = models.CharField(max_length=200)
    set_version = models.PositiveIntegerField(null=True)
    answerer = models.CharField(max_length=20)
    settings = models.JSONField(default=dict)  # what bears on the result
    code_version = models.CharField(max_length=100)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # For staff alone: over all questions, whoever may read them.
    questions = models.PositiveIntegerField(default=0)
    corpus_revision = models.CharField(max_length=64, blank=True)
    metrics = models.JSONField(default=dict)  # name: {value, low, high, questions}
    thresholds = models.JSONField(default=list)  # [{name, limit, value, is_met}]

    # What a reader's role may select: the columns that say nothing of hidden questions.
    OPEN_FIELDS = (
        "id",
        "public_id",
        "set_name",
        "set_version",
        "answerer",
        "settings",
        "code_version",
        "started_at",
        "finished_at",
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.set_name}, {self.started_at:%Y-%m-%d %H:%M}"


class RunResult(models.Model):
    """One question of a run: as asked, as answered, as judged.

    `expected` and `terms` are kept only as far as the question's own asker can read the places
    they name. `needed_classes` are access classes that a viewer must all be able to read, which
    takes every label of the question (and of the same question asked with more labels).
    """

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="results")
    ordinal = models.PositiveIntegerField()
    key = models.CharField(max_length=100)
    question = models.TextField()
    answerable = models.BooleanField()
    expected = models.JSONField(default=list)
    terms = models.JSONField(default=list)
    labels = models.JSONField(default=list)
    as_of = models.DateField()
    status = models.CharField(max_length=10)  # answered, refused, failed
    error = models.TextField(blank=True)
    outcome = models.JSONField(null=True)  # the API's answer, its sources apart
    retrieved = models.JSONField(default=list)  # the ranking, with scores, without texts
    scores = models.JSONField(default=dict)
    passed = models.BooleanField()
    corpus_revision = models.CharField(max_length=64, blank=True)
    needed_classes = ArrayField(models.IntegerField(), default=list)
    chunk_ids = ArrayField(models.UUIDField(), default=list)

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["run", "ordinal"], name="one_result_per_question")
        ]

    def __str__(self) -> str:
        return self.key
