"""Asynchronous snapshots: what lies between the cut of a snapshot and its acknowledgement (RULES ASY)."""
