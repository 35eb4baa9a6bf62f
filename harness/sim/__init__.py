"""The deterministic kernel of the simulator: virtual clock and scheduler, random streams, disk.

Rules of this package: one seed decides everything; equal runs give equal trace hashes on every supported Python, in
any process and with any hash seed; it imports `harness.model` only and knows no system.
"""
