"""Lexical analysis: one module for chunks and questions alike.

text -> tokens (`tokens.py`) -> terms and weights (`terms.py`). A term that a chunk is indexed
under and the term a question asks for come from the same functions, so they meet. Nothing
here looks at the corpus: the same text gives the same terms and weights for ever.
"""

from documents.ingestion.analysis.language import detect_language
from documents.ingestion.analysis.terms import (
    Term,
    bigrams,
    content_words,
    index_weights,
    query_terms,
    unigrams,
)

__all__ = [
    "Term",
    "bigrams",
    "content_words",
    "detect_language",
    "index_weights",
    "query_terms",
    "unigrams",
]
