from __future__ import annotations

import pytest

from legalqa.services import cache_url


@pytest.mark.parametrize(
    ("redis_url", "expected"),
    [
        ("redis+socket:///run/redis.sock?virtual_host=0", "unix:///run/redis.sock?db=1"),
        ("redis://redis:6379/0", "redis://redis:6379/1"),
        ("redis://:secret@redis:6379", "redis://:secret@redis:6379/1"),
        (
            "rediss://redis:6379/3?ssl_cert_reqs=required",
            "rediss://redis:6379/4?ssl_cert_reqs=required",
        ),
    ],
)
def test_cache_has_the_database_after_the_brokers(redis_url: str, expected: str) -> None:
    assert cache_url(redis_url) == expected
