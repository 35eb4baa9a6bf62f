"""The ledger: the facts of a history about parts of checkpoints, checkpoints and files, gathered once for all oracles.

It holds facts and decides nothing. Each file is an area: what its facts are of, and the fields that it has.
"""
