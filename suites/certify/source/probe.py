"""A process that looks whether it finds what another one has written: `python -m ... FACTORY URI`; 0: it does."""

from __future__ import annotations

import os
import sys

from holdfast.harness.spi.source import Source, SourceContext
from holdfast.suites.certify.plug import loaded


def finds(factory: str, uri: str) -> bool:
    """Whether a source finds a split there.

    Args:
        factory: of it, as `module:name`.
        uri: where it looks.
    """
    source: Source = loaded("source", factory, Source)(
        SourceContext(uri=uri, job="probe", operator="source", attempt=1)
    )
    return any(source.enumerator(None).assign([0], now_ms=0).values())


if __name__ == "__main__":
    found = False
    try:
        found = finds(*sys.argv[1:])
    finally:
        os._exit(not found)  # Whatever threads a client of brokers has left.
