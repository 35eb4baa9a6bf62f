"""Exploration: searches over plans. Many seeds for one that raises an alarm, smaller plans for one that still shows it,
drawn plans for one that kills a mutant.

Rules of this package: a search is bounded, runs on the simulator and finds the same again; what it found is a plan that
can be run alone.
"""
