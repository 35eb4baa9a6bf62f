"""Artefacts: what a run leaves on disk, and back from there.

Rules of this package: a folder or a file is there whole or not at all; what was cut off, edited or written by a newer
program is refused in one sentence that names the place; what a living process works in is never touched.
"""
