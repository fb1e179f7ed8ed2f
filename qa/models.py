"""The answer log, and the keys of programs.

A question is one append-only row when it is asked and one when it ends; the words themselves
lie in a side row that can be erased. A reader sees their own rows alone (row security).
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class QuestionRecord(models.Model):
    """That somebody asked something; never changed. Without an outcome it was aborted."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    asker_id = models.BigIntegerField(null=True)  # no foreign key: outlives the account
    asker_name = models.CharField(max_length=200)
    as_of = models.DateField()
    door = models.CharField(max_length=10)
    question_digest = models.CharField(max_length=64)  # keyed with the salt of the side row
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["asker_id", "-id"], name="question_by_asker")]
        permissions = [
            ("read_questions", "May read the questions of others"),
            ("erase_questions", "May erase the words of a person's questions"),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class OutcomeRecord(models.Model):
    """How a question ended; never changed."""

    question = models.OneToOneField(
        QuestionRecord, primary_key=True, on_delete=models.PROTECT, related_name="outcome"
    )
    status = models.CharField(max_length=10)  # answered, refused, aborted
    refusal_code = models.CharField(max_length=30, blank=True)
    language = models.CharField(max_length=10, blank=True)
    model = models.CharField(max_length=100, blank=True)
    prompt_version = models.CharField(max_length=40, blank=True)
    corpus_revision = models.CharField(max_length=64, blank=True)
    passages = models.JSONField(default=list)  # section id, version, scores
    verdicts = models.JSONField(default=list)
    steps = models.JSONField(default=list)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=10, decimal_places=6, default=0)
    finished_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.question_id}: {self.status}"


class QuestionText(models.Model):
    """The words of a question and of what was shown: erasable on a person's request."""

    question_record = models.OneToOneField(
        QuestionRecord, primary_key=True, on_delete=models.CASCADE, related_name="words"
    )
    salt = models.CharField(max_length=32)
    question = models.TextField()
    shown = models.JSONField(null=True)  # the API's answer, as it was shown
    chunk_ids = ArrayField(models.UUIDField(), default=list)  # what the shown quotes come from

    def __str__(self) -> str:
        return f"words of {self.question_record_id}"


class ApiKey(models.Model):
    """A key of a program, acting for a user; only its hash is kept."""

    class Scope(models.TextChoices):
        """What a key may be used for; its user's rights limit it further."""

        ASK = "ask"
        READ = "read"
        INGEST = "ingest"
        REVIEW = "review"
        EVALUATE = "evaluate"
        ADMIN = "admin"

    name = models.CharField(max_length=100)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope.choices), default=list)
    labels = ArrayField(
        models.SlugField(), null=True, blank=True, help_text="Empty: all labels of the user."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
