"""Liveness: the end that a plan expects, and what a job waits for that misses it."""
