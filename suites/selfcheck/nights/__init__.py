"""Nights on trial: settings, resuming, waivers, comparison and their pages."""
