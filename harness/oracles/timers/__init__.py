"""RULES REC-07: timers, and the time that they wait for."""
