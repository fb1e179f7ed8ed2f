"""ONNX Runtime against torch: what a process pays for each, and whether they agree.

    python benchmarks/embedding.py [--repeat 30]

Each backend runs in a process of its own, since what is measured is what a process costs:
CPU-seconds until the first question is embedded, memory then, and milliseconds for a question
and a passage. Read the ratios: times differ between machines and with what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "How many days of annual leave may I carry over into number {}?"
CLAUSE = (
    "An employee who has worked for at least {} months may, with the written approval of the "
    "line manager, carry over up to five days of unused annual leave into the next calendar "
    "year; days that are not taken by 31 March lapse, unless illness or parental leave made it "
    "impossible to take them. "
)


def measure(backend: str, repeat: int) -> None:
    """Measure one backend in this process and print the figures as JSON."""
    import django

    django.setup()
    from documents import embedding

    embedding.warm_up()
    figures: dict[str, object] = {
        "cpu_seconds": time.process_time(),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    questions = [QUESTION.format(number) for number in range(repeat)]
    figures["question_ms"] = typical_ms(lambda text: embedding.encode_query(text, "en"), questions)
    for name, clauses in (("short_passage_ms", 1), ("full_passage_ms", 4)):
        texts = ["".join(CLAUSE.format(number) for _ in range(clauses)) for number in range(repeat)]
        figures[name] = typical_ms(lambda text: embedding.encode_passages([text], "en"), texts)
    sample = [*questions[:10], *(CLAUSE.format(number) for number in range(10)), CLAUSE * 6]
    figures["vectors"] = embedding.encode_passages(sample, "en").tolist()
    print(json.dumps(figures))


def typical_ms(encode: Callable[[str], object], texts: list[str]) -> float:
    """Return the median over the faster half: the other half waited for other processes."""
    taken = []
    for text in texts:
        start = time.perf_counter()
        encode(text)
        taken.append((time.perf_counter() - start) * 1000)
    return sorted(taken)[len(taken) // 4]


def run(backend: str, repeat: int) -> dict[str, float | list[list[float]]]:
    """Measure `backend` in a child process."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", backend, "--repeat", str(repeat)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "legalqa.settings",
            "LEGALQA_EMBEDDING_BACKEND": backend,
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, float | list[list[float]]] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run both backends and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--measure", choices=("onnx", "torch"))
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.repeat)
        return
    onnx, torch = run("onnx", options.repeat), run("torch", options.repeat)
    cosines = [
        sum(a * b for a, b in zip(left, right, strict=True))
        for left, right in zip(onnx.pop("vectors"), torch.pop("vectors"), strict=True)
    ]
    print("| | ONNX Runtime | torch | torch / ONNX |\n| --- | --- | --- | --- |")
    for name, value in onnx.items():
        print(f"| {name} | {value:.1f} | {torch[name]:.1f} | {torch[name] / value:.1f} |")
    print(f"\nLowest cosine between the two, over {len(cosines)} texts: {min(cosines):.7f}")


if __name__ == "__main__":
    main()
