"""The executor: plan -> run -> history -> verdict, and everything around it: draw, shrink, campaign, certificate.

Rules of this package:
- `run.run_plan` is the only way that a plan is executed, whoever asks.
- It knows no system, fault, oracle or workload by name; they come from `registry`.
- Decisions of a run use `Deployment.now_ms` alone. The wall clock only measures cost, and only files named in
  `artefacts` and `history_files` are read or written.
- What a user did wrong is a `UsageError` with one sentence; nobody but the command line catches it.
"""
