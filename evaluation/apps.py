"""The application of evaluation: question sets, runs and their figures."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Says whether the answers are any good."""

    name = "evaluation"
    verbose_name = "Evaluation"
