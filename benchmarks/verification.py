"""How many bad answers the checks block and how many good ones they show.

Reads `security/bad_outputs.jsonl` and `security/good_outputs.jsonl` below the folder given
(or LEGALQA_SHARED_DATA) and prints a table by family; `--list` names what went wrong.

    python benchmarks/verification.py [FOLDER] [--list]
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from qa.answering.marked import judge_case


def main() -> None:
    """Judge both files and print what was shown and what was blocked."""
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    folder = Path(names[0] if names else os.environ.get("LEGALQA_SHARED_DATA", "../shared/data"))
    for file, wanted in (("bad_outputs", False), ("good_outputs", True)):
        families: dict[str, list[bool]] = defaultdict(list)
        for line in (folder / "security" / f"{file}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            result = judge_case(case)
            families[case["family"]].append(result["shown"] is wanted)
            if result["shown"] is not wanted and "--list" in sys.argv:
                print(case["id"], case["answer"], result["reasons"])
        total = [right for family in families.values() for right in family]
        print(f"{file}: {sum(total)} of {len(total)} {'shown' if wanted else 'blocked'}")
        for family, right in sorted(families.items()):
            print(f"  {family}: {sum(right)} of {len(right)}")


if __name__ == "__main__":
    main()
