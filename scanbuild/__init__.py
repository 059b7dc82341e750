"""scanbuild: build, verify and ship WebGPU kernel packages.

The public API is imported on first use, so that ``import scanbuild`` stays cheap.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {"load_kernel": "scanbuild.kernel", "Kernel": "scanbuild.kernel"}

__all__ = ["Kernel", "__version__", "load_kernel"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'scanbuild' has no attribute {name!r}")
