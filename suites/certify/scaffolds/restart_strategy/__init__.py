"""A restart strategy to begin with, and its wrong twin."""
