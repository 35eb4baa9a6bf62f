"""A checkpoint storage to begin with, and its wrong twin."""
