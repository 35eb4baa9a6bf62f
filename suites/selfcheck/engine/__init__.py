"""Unit tests of harness.engine, against a system that is played from a script."""
