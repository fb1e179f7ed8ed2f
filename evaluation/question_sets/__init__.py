"""Labelled questions: read from files, kept in versions, handed out to a run."""

from evaluation.question_sets.files import read_questions
from evaluation.question_sets.store import Imported, StoredSet, import_file, load_set, save_set

__all__ = ["Imported", "StoredSet", "import_file", "load_set", "read_questions", "save_set"]
