"""The ledger: what a history tells of parts of checkpoints, of checkpoints and of files, gathered once for all oracles.

It holds facts and decides nothing. Each file is an area: what its facts are of, and the fields that it has.
"""
