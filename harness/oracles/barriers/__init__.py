"""Barriers and alignment: channels, the consistent cut, and the state that it holds (RULES BAR)."""
