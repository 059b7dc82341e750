"""A certificate for one run: browsers offer WebGPU only over https, or on the machine they run on.

Nobody has signed it, so that a browser warns, and shows the fingerprint that the terminal shows too. It lasts for days,
and its key is nowhere but in a file that only this user can read, for as long as it takes to load it.
"""

import datetime
import hashlib
import ipaddress
import ssl
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.x509 import GeneralName

_LASTS: Final = datetime.timedelta(days=7)
_LEEWAY: Final = datetime.timedelta(days=1)
"""The clocks of phones and of this machine may differ."""


def own_certificate(names: Iterable[str]) -> tuple[bytes, str]:
    """A new certificate for names and addresses, with its key as PEM, and the fingerprint that browsers show of it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "scanbuild")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + _LASTS)
        .add_extension(
            x509.SubjectAlternativeName([_general_name(name) for name in sorted(set(names))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + made.public_bytes(serialization.Encoding.PEM)
    return pem, fingerprint(made.public_bytes(serialization.Encoding.DER))


def fingerprint(certificate: bytes) -> str:
    """The SHA-256 fingerprint of a certificate in DER, in the form that browsers show."""
    return hashlib.sha256(certificate).digest().hex(":").upper()


def server_context(pem: Path | bytes) -> ssl.SSLContext:
    """The TLS settings of a server with this certificate and key. OSError (ssl.SSLError is one) if they are none."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    if isinstance(pem, Path):
        context.load_cert_chain(pem)
        return context
    with tempfile.TemporaryDirectory(prefix="scanbuild-") as folder:
        # Temporary folders are their owner's alone.
        file = Path(folder) / "certificate.pem"
        file.write_bytes(pem)
        context.load_cert_chain(file)
    return context


def _general_name(name: str) -> "GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
