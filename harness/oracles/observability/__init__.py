"""Observability: what a system reports of its checkpoints (RULES OBS)."""
