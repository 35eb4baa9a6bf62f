"""The swarm: one seed, one plan, each with its own mix of job, width, options, workload and faults.

Rules of this package: a plan depends on its seed and its mix alone, on every supported Python; what is drawn is valid
by construction and has a known end; what a system does not declare is left out of its mix, and so never drawn.
"""
