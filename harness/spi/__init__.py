"""What a third party implements, and what the engine hands them.

Rules of this package: Protocols and the values that they pass, no behaviour; it imports `harness.model` and nothing
else of ours. `state`, `storage`, `source`, `sink` and `restart_strategy` are version 1; version 0 is not read. The SPI
is provisional until two backends from outside have been certified.

What a part starts as a process has ended, and was waited for, when the `close` of that part returns. A part without
`close` waits for it in the call that starts it.
"""

SPI_VERSION = 1
"""What `Description.spi_version` of a state backend, checkpoint storage, source, sink or restart strategy must be."""
