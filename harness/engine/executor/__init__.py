"""The executor: a plan on a system, judged. Deploy, safety phase, heal, liveness phase, settle window, stop, judge.

Rules of this package: `run.run_plan` is the way in. Time is that of the deployment; an undo is on disk before its fault
acts; whatever happens, faults are healed and the deployment is closed. What broke in between, a fault that missed or an
oracle that crashed makes a run inconclusive, and never a pass.
"""
