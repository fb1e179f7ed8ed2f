"""The worker's application with files that end it: `celery -A tests.faults.perilous:app worker`.

A file whose name holds `deadly` kills whoever reads it, a passage with the word `deadly` whoever
embeds it; reading a file named `slow` takes until somebody ends it, and embedding waits while
there is a file `hold` beside the stored ones.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from typing import Any

import django
from celery.signals import worker_init

from legalqa.celery import app

__all__ = ["app"]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@worker_init.connect
def _set_traps(**_: object) -> None:
    django.setup()
    from django.conf import settings

    from documents import embedding, pipeline

    reads, embeds = pipeline.process_file, embedding.encode_passages

    def read(data: bytes, *, file_name: str, **more: Any) -> Any:
        if "deadly" in file_name:
            _die()
        if "slow" in file_name:
            time.sleep(600)
        return reads(data, file_name=file_name, **more)

    def embed(texts: Sequence[str], *args: Any, **more: Any) -> Any:
        if any("deadly" in text for text in texts):
            _die()
        while (settings.FILES_DIR / "hold").exists():
            time.sleep(0.05)
        return embeds(texts, *args, **more)

    pipeline.process_file = read
    embedding.encode_passages = embed
