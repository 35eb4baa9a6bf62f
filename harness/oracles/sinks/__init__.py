"""Two-phase-commit sinks: what becomes of each transaction (RULES TPC)."""
