"""Certificates of somebody else, recomputed: what was done to them is found."""
