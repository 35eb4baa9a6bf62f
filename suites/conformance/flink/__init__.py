"""Apache Flink, held against the rules that were read out of it, by its own log and from outside.

Rules of this package:
- A case puts the question of a case of the reference runtime, by a plan that needs no gate. Those clauses decide that
  Flink supplies the evidence for. What shows that they can fail are the mutants of that case.
- A rule that needs other evidence has no case here, and stays unobserved or untested.
"""

from holdfast.suites.conformance.flink import (
    checkpoints,
    connected,
    ends,
    jars,
    links,
    objects,
    recoveries,
    shapes,
    submissions,
)

CASES = (
    *jars.CASES,
    *recoveries.CASES,
    *checkpoints.CASES,
    *recoveries.RESTART_CASES,
    *ends.CASES,
    *links.CASES,
    *checkpoints.STORING_CASES,
    *submissions.CASES,
    *connected.CASES,
    *objects.CASES,
    *shapes.CASES,
)
