"""Whether the right questions were refused, for a right reason.

A refusal because the model failed or money ran out is no judgement about the policies: on an
unanswerable question it counts as wrong, or an outage would look like caution.
"""

from __future__ import annotations

from typing import Final

from evaluation.records import Observed

# Codes of `qa.records.RefusalCode` that say something broke, not that nothing was found.
OUTAGES: Final = frozenset({"model_error", "budget_exhausted", "invalid_question"})


def refused_rightly(observed: Observed) -> float:
    """1 when an unanswerable question was refused for a reason of substance, else 0."""
    is_judged = observed.status == "refused" and observed.refusal_code not in OUTAGES
    return float(is_judged)


def refused_falsely(observed: Observed) -> float:
    """1 when an answerable question got no answer, for whatever reason, else 0."""
    return float(not observed.is_answered)
