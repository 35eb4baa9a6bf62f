"""Storage operations by themselves, step by step."""
