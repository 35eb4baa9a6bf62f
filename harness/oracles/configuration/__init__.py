"""Configuration: the effective options of a job, and what must be reported about them (RULES CFG)."""
