"""A sink whose format nobody knows: its own reader is asked."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.fixtures.sinks.files import FileSink


class UnknownSink(FileSink):
    """Files that nobody is told of."""

    description = replace(FileSink.description, name="unknown", committed_reader="")
