"""What a child may use while it reads one file."""

from __future__ import annotations

from dataclasses import dataclass

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Processor time, memory beyond what the interpreter needs, and length of the result."""

    cpu_seconds: int = 60
    memory_mb: int = 1024
    output_mb: int = 256

    @property
    def memory_bytes(self) -> int:
        """The memory in bytes."""
        return self.memory_mb * _MEGABYTE

    @property
    def output_bytes(self) -> int:
        """The length of the result in bytes."""
        return self.output_mb * _MEGABYTE

    @property
    def wall_seconds(self) -> float:
        """When the parent gives up: on a busy machine a second of work takes several."""
        return 4.0 * self.cpu_seconds + 10.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What reading a file took: seconds from start to end, processor time, peak memory."""

    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
