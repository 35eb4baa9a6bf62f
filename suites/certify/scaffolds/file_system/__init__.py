"""A file system to begin with, and its wrong twin."""
