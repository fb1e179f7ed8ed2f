"""Images are drawn once, kept within bounds, and never larger than a screen needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion import page_images, store
from documents.ingestion.page_images import page_image, scale_for


@given(st.floats(1, 20_000), st.floats(1, 20_000))
def test_no_image_is_larger_than_the_bounds(width: float, height: float) -> None:
    scale = scale_for(width, height)

    assert width * scale <= page_images.MOST_PIXELS_ACROSS + 0.001 * width
    assert height * scale <= page_images.MOST_PIXELS_DOWN + 0.001 * height


@pytest.fixture
def world(tmp_path: Path) -> dict[str, Path]:
    return {"files": tmp_path / "files", "cache": tmp_path / "images"}


def test_a_page_is_drawn_once_and_kept_from_others_on_the_machine(world: dict[str, Path]) -> None:
    sha256 = store.save(world["files"], b"%PDF")
    drawn: list[int] = []

    def draw(data: bytes, number: int, scale: float) -> bytes:
        drawn.append(number)
        return b"png"

    for number in (1, 1, 2):
        image = page_image(sha256, number, 2.0, **world, cache_bytes=100, draw=draw)
        assert image == b"png"

    assert drawn == [1, 2]
    (folder,) = world["cache"].iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_what_was_not_asked_for_longest_goes_first(world: dict[str, Path]) -> None:
    sha256 = store.save(world["files"], b"%PDF")
    for number in range(1, 5):
        page_image(sha256, number, 1.0, **world, cache_bytes=1000, draw=lambda *_: b"x" * 30)
        for path in world["cache"].glob(f"*/{sha256}-{number}-*"):
            os.utime(path, (number, number))

    page_image(sha256, 5, 1.0, **world, cache_bytes=100, draw=lambda *_: b"x" * 30)

    left = sorted(path.name.split("-")[1] for path in world["cache"].glob("*/*"))
    assert left == ["4", "5"]


def test_a_page_that_cannot_be_drawn_leaves_nothing(world: dict[str, Path]) -> None:
    sha256 = store.save(world["files"], b"%PDF")

    def broken(data: bytes, number: int, scale: float) -> bytes:
        raise ParseError("The page cannot be drawn.")

    with pytest.raises(ParseError):
        page_image(sha256, 1, 1.0, **world, cache_bytes=100, draw=broken)
    assert list(world["cache"].glob("*/*")) == []


def test_a_cache_that_cannot_be_written_costs_time_alone(world: dict[str, Path]) -> None:
    sha256 = store.save(world["files"], b"%PDF")
    world["cache"].write_bytes(b"no folder")

    with pytest.raises(NotADirectoryError):
        (world["cache"] / "x").read_bytes()
    assert page_image(sha256, 1, 1.0, **world, cache_bytes=9, draw=lambda *_: b"png") == b"png"


def test_a_file_that_was_altered_is_not_drawn(world: dict[str, Path]) -> None:
    sha256 = store.save(world["files"], b"%PDF")
    store.path_of(world["files"], sha256).write_bytes(b"other")

    with pytest.raises(FileNotFoundError):
        page_image(sha256, 1, 1.0, **world, cache_bytes=9, draw=lambda *_: b"png")
