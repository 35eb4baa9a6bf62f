"""The table of deviations on trial: what refutes each cell is looked for here, and seen again by the tests.

python -m holdfast.suites.selfcheck.deviations --out build/deviations
"""
