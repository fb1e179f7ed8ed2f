"""How long one bulk upload takes until all of it can be read, beside embedding alone.

Makes 1,000 small policies of its own text, hands them in as one archive, and lets a real worker
take, read, screen, embed and publish them on services of their own; nobody touches anything
meanwhile. Then the same passages are embedded in this process, with nothing else to do.

    python benchmarks/bulk_ingestion.py [--documents 1000] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUBJECTS = (
    "archive", "bicycle", "canteen", "desk", "equipment", "fire door", "guest", "holiday", "intern",
    "journey", "key", "laptop", "meeting", "notice", "overtime", "parking", "receipt", "training",
)  # fmt: skip
DUTIES = (
    "must be requested in writing at least {n} working days before it is needed",
    "may be used by staff who have worked here for more than {n} months",
    "is paid for by the department up to {n} euros in a calendar year",
    "shall be returned to the front desk within {n} days of the last day of work",
    "must not be passed on to another person unless the manager has agreed",
)
POLL_SECONDS = 0.5


def policy(number: int) -> str:
    """A policy of three sections; no two are alike."""
    chance = random.Random(number)  # noqa: S311 - text, not secrets
    subject = f"{chance.choice(SUBJECTS)} {number}"
    sections = []
    for section in range(1, 4):
        sentences = [
            f"Each {chance.choice(SUBJECTS)} for the {subject} "
            f"{chance.choice(DUTIES).format(n=chance.randint(2, 90))}."
            for _ in range(chance.randint(2, 4))
        ]
        sections.append(f"## {section} Part {section} of {subject}\n\n{' '.join(sentences)}\n")
    return f"# Rules for the {subject}\n\n" + "\n".join(sections)


def archive(documents: int) -> bytes:
    """All policies in one ZIP, in folders of a hundred."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as made:
        for number in range(documents):
            made.writestr(f"{number // 100:02}/policy {number:04}.md", policy(number))
    return kept.getvalue()


def own_services(folder: Path) -> None:
    """Services and files of this run alone; the exported model is the usual one."""
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    models = os.environ.get("LEGALQA_MODEL_CACHE_DIR", str(ROOT / "var" / "models"))
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "legalqa.settings",
        "LEGALQA_VAR_DIR": str(folder),
        "LEGALQA_MODEL_CACHE_DIR": models,
    }
    sys.path.insert(0, str(ROOT))
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, check=True)


def worker() -> subprocess.Popen[bytes]:
    """A worker with its beat, as an operator starts it."""
    command = [sys.executable, "-m", "celery", "-A", "legalqa", "worker", "--beat"]
    return subprocess.Popen([*command, "--loglevel", "ERROR"], cwd=ROOT)


def hand_in(data: bytes) -> None:
    """Hand the archive in as a member of staff who may publish."""
    from django.contrib.auth import get_user_model

    from documents import actions, batches

    person = get_user_model().objects.create_superuser("bench", password=None)
    actions.create_labels([{"slug": "all-staff", "name": "All staff"}])
    batches.receive(
        [batches.HandedIn("policies.zip", io.BytesIO(data), len(data))],
        batches.Terms(labels=("all-staff",), publish=True),
        actor=person,
    )


def states() -> Counter[str]:
    """How many files wait, and how many versions are in which state."""
    from documents import access
    from documents.models import BatchItem, PolicyVersion

    with access.editing():
        found = Counter(PolicyVersion.objects.values_list("state", flat=True))
        found["waiting"] = BatchItem.objects.filter(outcome="waiting").count()
        found["refused"] = BatchItem.objects.filter(outcome="refused").count()
    return found


def watch(documents: int, start: float) -> tuple[dict[str, float], Counter[str]]:
    """Until every file has come to rest: seconds until all were taken, and until the end."""
    seconds: dict[str, float] = {}
    while True:
        now = states()
        if not now["waiting"] and "taken" not in seconds:
            seconds["taken"] = time.monotonic() - start
        rested = sum(now[state] for state in ("published", "failed", "held", "refused"))
        print(f"\r{now['published']} of {documents} published", end="", file=sys.stderr)
        if rested >= documents:
            seconds["published"] = time.monotonic() - start
            print(file=sys.stderr)
            return seconds, now
        time.sleep(POLL_SECONDS)


def embed_alone() -> tuple[int, float]:
    """The same passages through the same model, here: how many, and seconds without loading."""
    from documents import access, embedding, pipeline
    from documents.models import Chunk

    with access.editing():
        texts = [pipeline.embedded_text(c) for c in Chunk.objects.select_related("section")]
    embedding.encode_passages(texts[:8], "en")  # loads the model
    start = time.monotonic()
    embedding.encode_passages(texts, "en")
    return len(texts), time.monotonic() - start


def run(documents: int, folder: Path) -> dict[str, object]:
    """One upload, watched until its end, then the same passages embedded alone."""
    own_services(folder)
    import django

    django.setup()
    from legalqa.services import ensure_running

    ensure_running()
    data = archive(documents)
    process = worker()
    try:
        time.sleep(15)  # a running system, not a starting one
        start = time.monotonic()
        hand_in(data)
        received = time.monotonic() - start
        seconds, end = watch(documents, start)
    finally:
        process.terminate()
        process.wait(60)
    chunks, alone = embed_alone()
    return {
        "documents": documents,
        "passages": chunks,
        "archive_bytes": len(data),
        "received_seconds": round(received, 1),
        "all_taken_seconds": round(seconds["taken"], 1),
        "all_published_seconds": round(seconds["published"], 1),
        "documents_per_second": round(documents / seconds["published"], 2),
        "embedding_alone_seconds": round(alone, 1),
        "times_embedding_alone": round(seconds["published"] / alone, 2),
        "end": {state: count for state, count in end.items() if count},
        "load_average": [round(one, 1) for one in os.getloadavg()],
        "cores": os.cpu_count(),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--keep", type=Path, help="leave the services' files there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="legalqa-bulk-", ignore_cleanup_errors=True) as made:
        folder = given.keep or Path(made)
        try:
            print(json.dumps(run(given.documents, folder), indent=2))
        finally:
            if given.keep is None:
                command = [sys.executable, "-m", "legalqa.embedded", "down"]
                subprocess.run(command, cwd=ROOT, check=False)


if __name__ == "__main__":
    main()
