"""``metadata.json``: what a package is, and the digests that the loader holds its files against (1.5)."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from scanbuild.package.digest import digest_bytes
from scanbuild.package.model import Json, Manifest
from scanbuild.package.values import is_natural
from scanbuild.publishing.provenance import Provenance

MANIFEST_SPEC = "2.1"
CONTRACT_VERSION = 1
LICENSE = "apache-2.0"


def metadata(
    manifest: Manifest,
    files: Mapping[str, bytes],
    variants: Mapping[str, Sequence[str]],
    provenance: Provenance | None,
    chosen: Mapping[str, Json],
) -> dict[str, Json]:
    """The metadata of a package that holds these files.

    ``variants`` lists the templates of each variant, ``chosen`` may name another ``version`` and ``license`` than
    the defaults.
    """
    digests = {name: digest_bytes(files[name]) for name in sorted(files)}
    return {
        "name": manifest.op_id,
        "id": package_id(manifest.op_id, digests),
        "version": chosen.get("version", CONTRACT_VERSION),
        "license": chosen.get("license", LICENSE),
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": dict(digests)},
        **({"provenance": {"kernel": provenance.as_json()}} if provenance else {}),
        "webgpu": {
            "manifestSpec": MANIFEST_SPEC,
            "variants": {name: list(templates) for name, templates in variants.items()},
        },
    }


def contract_version(raw: Mapping[str, Json]) -> int | None:
    """The version of the contract that a ``metadata.json`` tells, a whole number from 0; None if it tells none."""
    version = raw.get("version")
    return int(cast(float, version)) if is_natural(version) else None


def package_id(op_id: str, digests: Mapping[str, str]) -> str:
    """A name for exactly this content: ``_ai_onnx_scan_webgpu_`` and seven hex digits."""
    content = json.dumps(digests, sort_keys=True, separators=(",", ":")).encode()
    words = re.sub(r"[^a-z0-9]+", "_", op_id.lower()).strip("_")
    return f"_{words}_webgpu_{hashlib.sha256(content).hexdigest()[:7]}"
