"""Retention: which completed checkpoints stay, and who restores them (RULES RET)."""
