"""How a template becomes a file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

_HERE = "holdfast.suites.certify.scaffolds"


def template(path: str, words: Mapping[str, str]) -> str:
    """A file of this package, with the words between `@` replaced.

    Args:
        path: below this package.
        words: by the name that stands between two `@` in the template.
    """
    text = files(_HERE).joinpath(path).read_text()
    for word, replacement in words.items():
        text = text.replace(f"@{word}@", replacement)
    return text


def module(path: str, name: str) -> str:
    """A module of this package, as one that is called `name` and stands beside its twin.

    Args:
        path: below this package, such as `sink/wrong.py`.
        name: of the right one.
    """
    right = f"{_HERE}.{path.rpartition('/')[0].replace('/', '.')}.right"
    return template(path, {}).replace(f"from {right} ", f"from {name} ").replace('"example', f'"{name}')
