"""The pytest plugin: entry point `pytest11`. It imports nothing heavy at startup."""
