"""Fit the gate: logistic regression over its features, printed as a line for gates.py.

Reads JSON lines `{features: {name: number}, answerable: bool}` and prints coefficients,
the accuracy at 0.5, and the scores at the tenth and ninetieth percentile of both classes.

    python benchmarks/fit_gate.py FILE [--l2 0.05]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

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


def main() -> None:
    """Read the features, fit, and print what to paste into gates.py."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--l2", type=float, default=0.002)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.file.read_text("utf-8").splitlines() if line]
    names = sorted({name for row in rows for name in row["features"]})
    features = np.array([[row["features"].get(name, 0.0) for name in names] for row in rows])
    labels = np.array([float(row["answerable"]) for row in rows])
    weights = fit(features, labels, l2=options.l2)
    scores = 1 / (1 + np.exp(-(weights[0] + features @ weights[1:])))
    pairs = ", ".join(f'"{n}": {w:.2f}' for n, w in zip(names, weights[1:], strict=True))
    print(f"Coefficients({weights[0]:.2f}, {{{pairs}}}, ...)")
    print(f"n = {len(rows)}, accuracy at 0.5: {np.mean((scores >= 0.5) == labels):.3f}")
    for name, label in (("answerable", 1.0), ("not answerable", 0.0)):
        if np.any(labels == label):
            low, high = np.percentile(scores[labels == label], [10, 90])
            print(f"{name}: 10 % below {low:.2f}, 90 % below {high:.2f}")


if __name__ == "__main__":
    main()
