"""Word documents (Office Open XML): read part by part, over the standard, without Word.

`package` opens the archive within limits, `markup` its XML, `styles` and `numbering` compute
what Word would print, `flow`, `runs` and `tables` read what a person sees, `story` puts it in
order. Nothing is written to disk, fetched or run.
"""

from __future__ import annotations

from documents.ingestion.parsers.docx.parse import parse_docx

__all__ = ["parse_docx"]
