"""Oracles on Spark: what is too much for one process, counted where it lies.

Rules of this package:
- The verdict is that of the process: same counters, same names, checked against each other and against SQL.
- A session of Spark comes as an argument; PySpark is imported where it is used, because it is optional.
- What executors run is sent to them, imports NumPy and Arrow alone, and finds nothing of ours installed.
"""
