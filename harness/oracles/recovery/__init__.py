"""Recovery: what a restore gives, which regions restart, and what is read again (RULES REC)."""
