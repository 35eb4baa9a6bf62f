"""Certification: every case that applies to a system, on every tier that runs, and one Journal of it all.

Rules of this package: a status is computed from what was run and never stored; what was not run, or not to its end,
is listed with its reason. Cases run side by side only where none of them takes from another what is measured.
"""
