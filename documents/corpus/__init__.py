"""The whole corpus in one archive, and back: policies, versions, text, vectors, files, audit.

`tables` says what is in it, `values` how a value is written, `writing` and `reading` do it, and
`trail` carries the audit events. The format is described in docs/reference/corpus-archive.md.
"""

from documents.corpus.reading import Imported, import_corpus
from documents.corpus.writing import export_corpus

__all__ = ["Imported", "export_corpus", "import_corpus"]
