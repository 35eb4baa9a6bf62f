"""Engines that run as processes: one that is right, and its twin."""
