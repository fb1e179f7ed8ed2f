"""One heavy object per process, loaded on first use.

A model or an inference session owns threads, and threads don't survive a fork: a Celery
child that used its parent's session would hang. So values are kept by process id, and a
child loads its own. Two threads that ask at once wait for one load.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class OncePerProcess(Generic[Key, Value]):
    """Values of `load(key)`, each made once in each process that asks."""

    def __init__(self, load: Callable[[Key], Value]) -> None:
        self._load = load
        self._values: dict[tuple[int, Key], Value] = {}
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._renew_lock)

    def get(self, key: Key) -> Value:
        """Return the value for `key`, loading it when this process has none yet.

        An error of `load` is raised to the caller and not remembered: the next call tries
        again.
        """
        place = (os.getpid(), key)
        found = self._values.get(place)
        if found is None:
            with self._lock:
                found = self._values.get(place)
                if found is None:
                    found = self._values[place] = self._load(key)
        return found

    def _renew_lock(self) -> None:
        # A parent's value stays referenced: freeing it here would join threads that this
        # process doesn't have. Its lock may have been held by a thread that is gone.
        self._lock = threading.Lock()
