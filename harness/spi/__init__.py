"""What a third party implements, and what the engine hands them.

Rules of this package: Protocols only, no behaviour; it imports `harness.model` and nothing else of ours. The SPI is
provisional (version 0) until two backends from outside have been certified.
"""

SPI_VERSION = 0
