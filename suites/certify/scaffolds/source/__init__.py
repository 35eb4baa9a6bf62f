"""A source to begin with, and its wrong twin."""
