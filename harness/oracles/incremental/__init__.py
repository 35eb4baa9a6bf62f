"""Shared files of incremental checkpoints: what reaches them, and what becomes of them (RULES INC)."""
