"""The address that goes on record: the peer's, or what a trusted proxy vouches for."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.core.handlers.asgi import ASGIRequest

from legalqa import origin
from legalqa.env import EnvironmentVariableError

PROXIES = origin.networks(["10.0.0.0/8", "127.0.0.1", "fd00::/8"])


def address(peer: str, forwarded: str | None = None, proxies=PROXIES) -> str:
    meta = {"REMOTE_ADDR": peer}
    if forwarded is not None:
        meta["HTTP_X_FORWARDED_FOR"] = forwarded
    return origin.client_address(meta, proxies)


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.7", None, "192.0.2.7"),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),  # anybody can send the header
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),  # the client wrote the first
        ("127.0.0.1", "198.51.100.1, 10.1.2.3", "198.51.100.1"),  # two proxies in a row
        ("127.0.0.1", "10.9.9.9, 10.1.2.3", "10.9.9.9"),  # a client inside
        ("127.0.0.1", "198.51.100.1, <script>", "127.0.0.1"),
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.1,", "127.0.0.1"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("::ffff:127.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
        ("", "198.51.100.1", ""),  # a unix socket: nobody vouches for the header
        ("not an address", "198.51.100.1", ""),
    ],
)
def test_the_nearest_address_that_no_trusted_proxy_has(peer, forwarded, expected):
    assert address(peer, forwarded) == expected


def test_without_trusted_proxies_the_peer_is_the_client():
    assert address("127.0.0.1", "198.51.100.1", proxies=[]) == "127.0.0.1"


def test_an_address_fits_its_column():
    longest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%interface-with-a-very-long-name"

    assert len(address(longest)) <= 45


def test_what_is_no_network_is_named_at_the_start():
    with pytest.raises(EnvironmentVariableError, match=r"10\.0\.0\.0/33"):
        origin.networks(["10.0.0.0/33"])


def test_a_header_with_underscores_is_not_the_proxys():
    """V-40 (CVE-2026-3902): `X_Forwarded_For` must not pass for `X-Forwarded-For`."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "client": ["127.0.0.1", 50000],
        "headers": [(b"x-forwarded-for", b"198.51.100.1"), (b"x_forwarded_for", b"203.0.113.9")],
    }

    meta = ASGIRequest(scope, BytesIO()).META

    assert origin.client_address(meta, PROXIES) == "198.51.100.1"
