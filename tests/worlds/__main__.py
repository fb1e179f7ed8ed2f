"""`python -m tests.worlds --worlds 200 --seed 7`: prints checks, differences and how to replay."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import pytest

from tests.worlds.settings import Long


def main() -> int:
    """Run `by_hand` in a test database of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.worlds", description=__doc__)
    for field in dataclasses.fields(Long):
        parser.add_argument(f"--{field.name}", type=int, default=field.default)
    Long(**vars(parser.parse_args())).to_environment()
    path = str(Path(__file__).with_name("by_hand.py"))
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "--timeout=0", "--no-header", path]))


if __name__ == "__main__":
    sys.exit(main())
