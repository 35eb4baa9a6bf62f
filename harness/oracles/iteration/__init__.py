"""Iteration: what a restart does to the records in a loop (RULES ITR)."""
