"""Cases: one put to one system on one tier, run by run, until it is known where it stands.

Rules of this package: a run that missed is replaced and does not count; one in which the harness broke says so, and the
others still count. What runs add up to fits in bounded memory. A case stands as badly as the worst that was shown.
"""
