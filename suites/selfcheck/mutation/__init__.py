"""Mutation test of the reference protocol: each syntactic mutant of its source is refuted by an oracle, leaves every
trace as it was, or is explained.

cosmic-ray makes the mutants (its operators and three of our own on its interface); this package runs and judges them.
Rules of this package: a mutant runs in a child process that has imported nothing of the reference runtime before; the
child is bounded in memory, in processor time per run and in time altogether; only a verdict of the judge refutes. An
error of the mutated protocol ends its process, as it would end a real one, and a hang stops it for ever: what the run
is worth after that is for the oracles to say.

    python -m holdfast.suites.selfcheck.mutation --sample 500 --seed 1 --out build/mutation
"""
