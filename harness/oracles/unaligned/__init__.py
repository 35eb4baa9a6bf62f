"""Unaligned checkpoints: how much is in flight when barriers overtake (RULES UNA)."""
