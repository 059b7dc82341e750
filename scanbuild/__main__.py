"""``python -m scanbuild``."""

from scanbuild.commands import main

if __name__ == "__main__":
    main(prog_name="python -m scanbuild")
