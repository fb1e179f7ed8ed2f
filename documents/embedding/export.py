"""The model written once to a file that ONNX Runtime reads.

torch's exporter runs in a process of its own, which gives its memory back: a web process that
must export on first use never imports torch. Whoever comes second waits for the first on a
file lock that the kernel releases if the first one dies. The manifest is written last, so a
folder with a fitting manifest is complete.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from documents.embedding import model as models
from documents.errors import EmbeddingError

FILE = "model.onnx"
MANIFEST = "manifest.json"
SCRATCH = ".export-"
FORMAT = 1  # counts up when what is exported changes
TIMEOUT_SECONDS = 900

logger = logging.getLogger(__name__)


def export_onnx(target_dir: Path) -> Path:
    """Export the current model below `target_dir`, or find it exported already.

    Args:
        target_dir: made when missing. Each model and revision has a folder of its own in it.

    Returns:
        The file. It takes token ids and attention mask, int64 (batch, sequence), and gives
        token embeddings, float32 (batch, sequence, dimension).

    Raises:
        EmbeddingError: the weights are wrong, the folder can't be written, or the export
            failed; nothing is left behind then.
    """
    model = models.current()
    folder = target_dir / f"{model.spec.id.replace('/', '--').strip('.-')}-{model.spec.revision}"
    if not _is_complete(folder, model):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _lock(folder / ".lock"):
                if not _is_complete(folder, model):
                    _export(model, folder)
        except OSError as error:
            raise EmbeddingError(
                "The exported model cannot be written: make LEGALQA_MODEL_CACHE_DIR a folder "
                "that this process may write to, with 200 MB free."
            ) from error
    return folder / FILE


def _is_complete(folder: Path, model: models.Model) -> bool:
    if not (folder / MANIFEST).is_file() or not (folder / FILE).is_file():
        return False
    try:
        manifest = models.read_json(folder / MANIFEST)
    except EmbeddingError:
        return False
    stated = [manifest.get(key) for key in ("format", "weights_sha256", "onnx_sha256")]
    return stated == [FORMAT, model.spec.sha256, models.file_sha256(folder / FILE)]


def _export(model: models.Model, folder: Path) -> None:
    models.check_weights(model)
    for abandoned in folder.glob(f"{SCRATCH}*"):  # of a process that died: we hold the lock
        shutil.rmtree(abandoned)
    with tempfile.TemporaryDirectory(dir=folder, prefix=SCRATCH) as scratch:
        file, manifest = Path(scratch, FILE), Path(scratch, MANIFEST)
        _run_exporter(model.folder, file)
        facts = {
            "format": FORMAT,
            "model": model.spec.id,
            "weights_sha256": model.spec.sha256,
            "onnx_sha256": models.file_sha256(file),
            "torch": version("torch"),
            "onnxscript": version("onnxscript"),
        }
        manifest.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        (folder / MANIFEST).unlink(missing_ok=True)
        file.replace(folder / FILE)
        manifest.replace(folder / MANIFEST)


def _run_exporter(source: Path, target: Path) -> None:
    command = [sys.executable, "-m", "documents.embedding.torch_export", str(source), str(target)]
    try:
        done = subprocess.run(  # noqa: S603 -- our own interpreter and module, paths from settings
            command,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EmbeddingError("Exporting the embedding model took too long.") from error
    if done.returncode != 0 or not target.is_file():
        logger.error("export of the embedding model failed: %s", done.stderr[-2000:])
        raise EmbeddingError(
            "Exporting the embedding model failed; the log holds what the exporter said. Until it "
            "works, set LEGALQA_EMBEDDING_BACKEND=torch."
        )


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, however that happens
        yield
