"""Drawings: from the data of a picture to SVG, for pages and the gallery."""
