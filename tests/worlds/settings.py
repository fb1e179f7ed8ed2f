"""How long the run by hand is: handed from the command to the test in the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass

_NAMES = {
    name: f"LEGALQA_WORLDS_{name.upper()}" for name in ("worlds", "seed", "moments", "seconds")
}


@dataclass(frozen=True)
class Long:
    """Worlds from a seed on, the moments of each, and when to stop."""

    worlds: int = 20
    seed: int = 1
    moments: int = 40
    seconds: int = 3600

    @classmethod
    def of_environment(cls) -> Long:
        given = {name: os.environ.get(variable) for name, variable in _NAMES.items()}
        return cls(**{name: int(value) for name, value in given.items() if value})

    def to_environment(self) -> None:
        for name, variable in _NAMES.items():
            os.environ[variable] = str(getattr(self, name))
