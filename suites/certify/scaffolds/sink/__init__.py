"""A sink to begin with, and its wrong twin."""
