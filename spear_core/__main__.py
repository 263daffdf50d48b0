"""`python -m spear_core COMMAND …`, which is the same as `spear COMMAND …`."""

import sys

from spear_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
