"""The application of evaluation: question sets, runs and their figures."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Says whether the answers are any good."""

    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        """Say which questions a new version of a policy touches."""
        from documents import hooks
        from evaluation import impact

        if impact.questions_touched not in hooks.impact_of:
            hooks.impact_of.append(impact.questions_touched)
