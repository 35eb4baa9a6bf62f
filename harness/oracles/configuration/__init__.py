"""Configuration: what is in force for a job, and what must be said of it (RULES CFG)."""
