"""What an author starts from. `holdfast new`: a folder that runs, with its wrong twin. `holdfast schema`: JSON Schema
of what is read, written and exchanged."""

from __future__ import annotations

import re
import shlex
import sys
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import msgspec
import typer

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points, registry

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def write_new(kind: str, name: str, language: str, folder: Path | None) -> int:
    """Write a scaffold, all of it or nothing, and say what to run next.

    Args:
        kind: name of the scaffold, such as `state-backend`.
        name: of what is written; it becomes the name of a module.
        language: in which; empty: the scaffold's first one.
        folder: new; None: one of that name, here.

    Raises:
        UsageError: there is no such scaffold or language, the name is none, or the folder is there.
    """
    scaffold = registry.scaffold(kind)
    if not _NAME.fullmatch(name) or iskeyword(name) or name in sys.stdlib_module_names or find_spec(name):
        raise UsageError(
            f"{name!r} cannot be the name of a module of yours: take small letters, digits and underscores, such as "
            f"my_{kind.replace('-', '_')}, and no word of Python's and no module that is installed."
        )
    language = language or scaffold.languages[0]
    if language not in scaffold.languages:
        raise entry_points.unknown(f"language of {kind}", language, scaffold.languages)
    target = folder or Path(name)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there, and nothing is overwritten: choose another folder with --out.")
    target.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for path, content in scaffold.files(name, language).items():
            file = begun / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        begun.chmod(0o755)
        begun.rename(target)
    except BaseException:
        rmtree(begun, ignore_errors=True)
        raise
    typer.echo(f"{target} is written; next:")
    for command in (shlex.join(["cd", str(target)]), *scaffold.commands(name, language)):
        typer.echo(f"  {command}")
    return 0


_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def show_schema(name: str) -> int:
    """Print the schema of a format.

    Args:
        name: of the format, such as `plan`.

    Raises:
        UsageError: there is no such format.
    """
    kind = registry.schema_type(name)
    schema = {"$schema": _DIALECT, "title": f"holdfast {name}", **msgspec.json.schema(kind)}
    typer.echo(msgspec.json.format(msgspec.json.encode(schema), indent=2).decode())
    return 0
