"""Fit the gate: logistic regression over its features, printed as a line for gates.py.

Reads JSON lines `{features: {name: number}, answerable: bool, language, unrelated: bool}`, of
which the last two may be absent. Prints the coefficients, the accuracy at 0.5, the scores at
the tenth and ninetieth percentile of both classes, and what a threshold must lie between: the
highest score of an unrelated question and the lowest of an answerable one. Unrelated questions
are kept out of the fit, so that their scores are unseen.

    python benchmarks/fit_gate.py FILE… [--language en] [--without cosine] [--l2 0.002]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np


def fit(features: np.ndarray, labels: np.ndarray, *, l2: float, steps: int = 5000) -> np.ndarray:
    """Weights with the intercept first, by gradient descent with an L2 penalty.

    Args:
        features: float64, (n, m).
        labels: float64, (n,), 1 for answerable.
        l2: strength of the penalty, which spares the intercept.
        steps: gradient steps.
    """
    design = np.hstack([np.ones((len(features), 1)), features])
    weights = np.zeros(design.shape[1])
    penalty = np.full(design.shape[1], l2)
    penalty[0] = 0.0
    for _ in range(steps):
        predicted = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (predicted - labels) / len(labels) + penalty * weights
        weights -= 1.0 * gradient
    return weights


def read_rows(files: list[Path], language: str) -> list[dict[str, Any]]:
    """The rows in that language (all without one) that have features at all."""
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line]
    rows = [json.loads(line) for line in lines]
    return [r for r in rows if r["features"] and r.get("language", "").startswith(language)]


def main() -> None:
    """Read the features, fit, and print what to paste into gates.py."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--language", default="")
    parser.add_argument("--without", action="append", default=[], help="a feature to leave out")
    parser.add_argument("--l2", type=float, default=0.002)
    options = parser.parse_args()
    rows = read_rows(options.files, options.language)
    names = sorted({name for row in rows for name in row["features"]} - set(options.without))
    features = np.array([[row["features"].get(name, 0.0) for name in names] for row in rows])
    labels = np.array([float(row["answerable"]) for row in rows])
    is_unrelated = np.array([bool(row.get("unrelated")) for row in rows])
    weights = fit(features[~is_unrelated], labels[~is_unrelated], l2=options.l2)
    scores = 1 / (1 + np.exp(-(weights[0] + features @ weights[1:])))
    report(names, weights, scores, labels, is_unrelated)


def report(
    names: list[str],
    weights: np.ndarray,
    scores: np.ndarray,
    labels: np.ndarray,
    is_unrelated: np.ndarray,
) -> None:
    """Print the coefficients and how well they part the classes."""
    pairs = ", ".join(f'"{n}": {w:.2f}' for n, w in zip(names, weights[1:], strict=True))
    print(f"Coefficients({weights[0]:.2f}, {{{pairs}}}, ...)")
    fitted, correct = scores[~is_unrelated], (scores >= 0.5) == labels
    print(f"n = {len(fitted)}, accuracy at 0.5: {np.mean(correct[~is_unrelated]):.3f}")
    for name, label in (("answerable", 1.0), ("not answerable", 0.0)):
        own = fitted[labels[~is_unrelated] == label]
        print(f"{name}: {np.percentile(own, 10):.2f} to {np.percentile(own, 90):.2f}")
    print(f"lowest answerable: {scores[labels == 1].min():.3f}")
    if is_unrelated.any():
        print(f"highest unrelated (unseen): {scores[is_unrelated].max():.3f}")


if __name__ == "__main__":
    main()
