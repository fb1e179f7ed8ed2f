"""`manage.py export_model`: write the embedding model for ONNX Runtime, once, at set-up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from documents import embedding
from documents.errors import EmbeddingError


class Command(BaseCommand):
    help = (
        "Export the embedding model to LEGALQA_MODEL_CACHE_DIR, where the processes that answer "
        "questions find it. Instant when it is there already. Takes about half a minute otherwise."
    )
    requires_system_checks = ()  # runs at set-up, before there is a database

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            path = embedding.export_onnx(Path(settings.MODEL_CACHE_DIR))
        except EmbeddingError as error:
            raise CommandError(error.message) from error
        if options["verbosity"] > 1:
            self.stdout.write(str(path))
