"""Restart strategies: which failures count, and what follows them (RULES RST)."""
