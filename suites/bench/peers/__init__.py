"""The peers: other engines on the flights stream, so that every figure of ours has one beside it.

Rules of this package
- An engine is installed by the benchmark itself into a virtual environment of its own in a cache outside the
  repository, never into the project's.
- Every engine runs the same job (sum and count of the arrival delay by key), streaming, exactly-once, with a checkpoint
  every second on the local disk, at parallelism 2, pinned to the same cores, on the same two columns: key and value.
- An engine is set up to its own advantage where its manual says how, and what was set is said beside the figure.
- What cannot be measured honestly is a dash, not a guess.
"""
