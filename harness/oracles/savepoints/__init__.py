"""Savepoints: what users take, keep, move and restore (RULES SAV)."""
