"""Finished tasks: how a bounded job ends, and its checkpoints on the way (RULES FIN)."""
