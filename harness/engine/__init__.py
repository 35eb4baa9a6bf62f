"""The engine: plan -> run -> history -> verdict, and everything around it.

From the top down; a folder imports only from those below it, and two on one line know nothing of each other:

nights | verification  certificates of several systems, night by night | one of somebody else, recomputed
job_cluster            jobs of the reference runtime in the background, with an HTTP endpoint on Flink's paths
certification          every case that applies to a system, on every tier that runs, and one Journal of it all
pictures               what is drawn of a run; nothing that runs or judges knows it
exploration            searches over plans: many seeds, a smaller plan, one that kills a mutant
cases                  one case on one system: which plans it runs, what its runs add up to, its status
artefacts | views      what a run leaves on disk | what a report shows of its history
executor               a plan on a system, judged
plans | swarm          plans checked and put in words | plans drawn from one seed
site                   what is plugged in here, this machine, this process
errors                 what is refused, and why

Rules of this package:
- `executor.run.run_plan` is the only way that a plan is executed.
- It knows no system, fault, oracle or workload by name; they come from `site.registry`.
- Decisions of a run use `Deployment.now_ms` alone. The wall clock only measures cost.
- What outlives a command is written by `artefacts`, `executor.run_folder` and `exploration.ledger`, by `nights`, and by
  `job_cluster` in the folder of its cluster.
- What a user did wrong is a `UsageError` with one sentence. The command line prints it and ends with 3. Whoever runs
  many things catches it where one that is refused must not end the others: cases, drawn plans, workers, `sweep`.
"""
