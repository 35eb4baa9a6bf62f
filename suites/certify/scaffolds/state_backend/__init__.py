"""A keyed state backend to begin with, and its wrong twin."""
