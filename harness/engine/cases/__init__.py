"""Cases: one case on one system and tier, run by run, until its status is known.

Rules of this package: a run that missed is replaced and does not count; one in which the harness broke is an ERROR, and
the others still count. The tally of runs takes bounded memory. The status of a case is the worst that a run has shown.
"""
