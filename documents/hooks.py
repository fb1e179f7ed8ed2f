"""Two typed registries that the apps above fill in `AppConfig.ready`: the only upward path."""

from __future__ import annotations

from collections.abc import Callable

# Called with the id of a version about to be published; a returned sentence forbids it.
before_publish: list[Callable[[int], str | None]] = []

# Called with the id of a version; returns sentences on what publishing it would touch.
impact_of: list[Callable[[int], list[str]]] = []
