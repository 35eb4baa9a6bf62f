"""As a module: `python -m holdfast.harness.cli`."""

from __future__ import annotations

from holdfast.harness.cli import main

if __name__ == "__main__":
    main()
