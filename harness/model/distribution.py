"""The name of the distribution, and the command that installs what one of its extras brings."""

from __future__ import annotations

DISTRIBUTION = "holdfast-chaos"
"""PyPI has a package `holdfast` of somebody else."""


def install_command(*extras: str) -> str:
    """The command that adds extras to an installed Holdfast; pip needs no release of it on an index for that.

    Args:
        extras: of pyproject.toml.
    """
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"
