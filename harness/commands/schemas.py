"""`holdfast schema`: JSON Schema of what is read, written and exchanged."""

from __future__ import annotations

import msgspec
import typer

from holdfast.harness.engine.site import registry

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
