"""What changed between two texts of a policy, by section: pure, and the same for every reader.

`compare` pairs the sections of both (`align`), finds which moved (`order`) or were split or
merged (`parts`), and marks the changed words of each pair (`words`). It sees what it is given
and nothing else: a reader's comparison is made of what that reader may read of both versions.
"""

from documents.ingestion.comparison.compare import compare
from documents.ingestion.comparison.records import (
    ChangeKind,
    ComparedSection,
    Comparison,
    Piece,
    PieceKind,
    SectionChange,
)
from documents.ingestion.comparison.words import word_changes

__all__ = [
    "ChangeKind",
    "ComparedSection",
    "Comparison",
    "Piece",
    "PieceKind",
    "SectionChange",
    "compare",
    "word_changes",
]
