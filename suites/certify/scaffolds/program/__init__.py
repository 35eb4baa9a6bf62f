"""A program over JSON lines to begin with, in several languages."""
