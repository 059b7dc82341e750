"""Names and addresses of this machine."""

import ipaddress
import socket

# Reserved for documentation: asking for a route to them sends nothing.
_ELSEWHERE = {4: (socket.AF_INET, ("192.0.2.1", 9)), 6: (socket.AF_INET6, ("2001:db8::1", 9))}


def is_loopback(host: str) -> bool:
    """Whether a host to listen on is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def own_names(host: str) -> frozenset[str]:
    """The names, besides addresses and ``localhost``, by which a server that listens on a host may be asked for."""
    if is_loopback(host):
        return frozenset()
    name = socket.gethostname().casefold()
    return frozenset({host.casefold(), name, f"{name.partition('.')[0]}.local"})


def reachable(host: str) -> str:
    """The host for an address that other devices open: where it stands for all, the address on the default route."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        address = ipaddress.ip_address(
            _routed_address(address.version) or ("::1" if address.version == 6 else "127.0.0.1")
        )
    return f"[{address}]" if address.version == 6 else str(address)


def host_of(host: str) -> str:
    """The host of an address, as :func:`reachable` gives it, without the brackets of IPv6."""
    return reachable(host).strip("[]")


def _routed_address(version: int) -> str:
    family, elsewhere = _ELSEWHERE[version]
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(elsewhere)
            return str(probe.getsockname()[0])
    except OSError:
        return ""
