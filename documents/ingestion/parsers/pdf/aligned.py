"""Tables without a grid."""

from __future__ import annotations

from documents.ingestion.parsers.pdf.page import PageContent, TableRegion


def aligned_tables(page: PageContent) -> list[TableRegion]:
    """The tables that aligned columns make."""
    return []
