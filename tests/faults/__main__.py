"""The long test by hand: `python -m tests.faults --seconds 1200 --clients 8 --seed 7`.

Clients do random acts on services of their own while a nemesis kills, stops, restarts and
empties one part after the other; then everything must come to rest and every invariant hold
(R-31). The same seed gives the same plan. Exit status 1 when something does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Prepare a site of its own, and hand over to `history`."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lq-") as folder:
        for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "legalqa.settings",
            "LEGALQA_VAR_DIR": folder,
            # The model is exported once for all runs.
            "LEGALQA_MODEL_CACHE_DIR": str(Path(__file__).parents[2] / "var" / "models"),
            "LEGALQA_EMBED_BATCH_CHUNKS": "1",
            "LEGALQA_EMBEDDING_BACKEND": "onnx",
            "LEGALQA_SWEEP_AFTER_SECONDS": "10",
        }
        from tests.faults import history  # settings are read when it is imported

        return history.run(options.seconds, options.clients, options.seed)


if __name__ == "__main__":
    sys.exit(main())
