"""A cluster that runs jobs for users, in the background: `holdfast job`.

Rules of this package:
- One process holds one cluster: a deployment of a system under test on real processes, and one job at a time in it.
  It writes the address of its endpoint into its folder, and ends when it is told to.
- Requests of users come by HTTP, on Flink's paths, in a thread of their own. The cluster takes them between two steps
  of the deployment. What is asked for asynchronously has a trigger id, and its end is asked for by that.
- It knows no concrete system: commands go through `spi.controls.job`, and what came of them is reported by events.
"""
