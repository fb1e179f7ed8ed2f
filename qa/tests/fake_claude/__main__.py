"""`python -m qa.tests.fake_claude --port N`: the fake API for trials by hand."""

from __future__ import annotations

import argparse
import contextlib
import threading
from collections.abc import Sequence

from qa.tests.fake_claude import FakeClaude


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A stand-in for Claude's API on loopback.")
    parser.add_argument("--port", type=int, default=8787)
    options = parser.parse_args(arguments)
    with FakeClaude(port=options.port) as claude, contextlib.suppress(KeyboardInterrupt):
        print(f"ANTHROPIC_BASE_URL={claude.base_url}", flush=True)  # noqa: T201 - a command
        threading.Event().wait()


if __name__ == "__main__":
    main()
