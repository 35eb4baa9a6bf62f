"""Views: from the history of a run to what a report shows of it.

Rules of this package: functions of the history, and of what a fault or a system declares; what they return is bounded
however long the run was. None of them decides anything: that is for oracles.
"""
