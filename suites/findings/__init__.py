"""Findings about systems of others, each with its plan and the history that shows it.

Rules of this package:
- A folder has the name that the finding has where it is known, such as that of a ticket. It is a stored run: plan,
  history and verdicts. `holdfast judge FOLDER` needs no such system.
- What breaks a rule has a waiver in `waivers.toml`, with the last day on which it is in force.
- A habit that breaks no rule may lie here, too. Its folder has no waiver, and its history passes. No oracle refutes a
  snapshot behind the news of an abort (`flink-forgets-aborts`): such news may be lost, so a task may always have taken
  it, and what counts is that no coordinator counts it.
"""
