"""Pipelines of somebody else, as the adapter is given them."""
