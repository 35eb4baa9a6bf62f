"""Pipelines as platform teams write them: each right one has a wrong twin, which the clause that its file names refutes.

They are run by the path of the file, as those of a team are, or by name.
"""
