"""The cases that decide the rules, one module per area.

Rules of this package:
- A case asks one question. Each rule that it decides names the clauses of an oracle, and a variant of the reference
  runtime on which one of these clauses names its anomaly; suites/selfcheck tries every such pair.
- Nothing is asserted here: plans are data, oracles judge, and the engine executes whoever asks.
- A plan that needs another clock than the machine's, or a gate inside an operation, runs on the simulator only.
"""
