"""``python -m cpcvae``: the command ``cpcvae``."""

import sys

from cpcvae._command import main

sys.exit(main())
