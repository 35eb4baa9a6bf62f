"""Triggering: when checkpoints begin, and which request is next (RULES TRG)."""
