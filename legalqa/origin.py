"""Where a request came from: its peer, or what proxies that are trusted say of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence

from legalqa.env import EnvironmentVariableError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def networks(names: Sequence[str]) -> list[Network]:
    """The networks of a setting, single addresses included.

    Raises:
        EnvironmentVariableError: one is neither.
    """
    try:
        return [ipaddress.ip_network(name, strict=False) for name in names]
    except ValueError as error:
        raise EnvironmentVariableError(
            f"LEGALQA_TRUSTED_PROXIES: {error}. Write addresses or networks with commas between "
            "them, such as 127.0.0.1,172.16.0.0/12."
        ) from error


def client_address(meta: Mapping[str, object], trusted: Sequence[Network]) -> str:
    """The address that a request came from, as far as somebody trusted vouches for it.

    X-Forwarded-For is read from its end, where the nearest proxy wrote, for as long as the
    addresses are those of trusted proxies: what a client writes there itself is never reached.

    Args:
        meta: the headers of the request as Django has them.
        trusted: networks of the reverse proxies; none: the peer is the client.

    Returns:
        An address, or an empty text where there is none (a unix socket).
    """
    nearest = _address(str(meta.get("REMOTE_ADDR") or ""))
    hops = str(meta.get("HTTP_X_FORWARDED_FOR") or "").split(",")
    while nearest is not None and _is_in(nearest, trusted) and hops:
        further = _address(hops.pop())
        if further is None:
            break
        nearest = further
    return str(nearest) if nearest is not None else ""


def _address(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _is_in(address: Address, trusted: Sequence[Network]) -> bool:
    return any(address.version == net.version and address in net for net in trusted)
