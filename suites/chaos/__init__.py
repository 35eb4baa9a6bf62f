"""Real processes in real containers, broken on purpose: what each system claims there, and wrong ones that must fail.

Rules of this package: every guarantee has a negative control beside it, a wrong variant under the same faults that must
be refuted by a clause that the case names. What is expected is written down here, not computed.
"""
