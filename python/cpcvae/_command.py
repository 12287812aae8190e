"""The command ``cpcvae``: the same as that of ``cargo install``."""

from __future__ import annotations

import sys

from cpcvae import _native


def main() -> int:
    """Runs the command with the arguments of this process; returns the exit code."""
    return _native.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
