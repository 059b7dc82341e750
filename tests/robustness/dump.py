"""``python -m tests.robustness.dump SEED FOLDER``: the package of a seed, to look at."""

import sys
from pathlib import Path

from tests.robustness.mutations import mutant
from tests.robustness.worker import NAME, write


def main(seed: str, folder: str) -> None:
    """Write the package of a seed into ``FOLDER/Package`` and say how it was made."""
    package = mutant(int(seed))
    write(package, Path(folder) / NAME)
    print(f"{package.base}:", *package.log, sep="\n  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
