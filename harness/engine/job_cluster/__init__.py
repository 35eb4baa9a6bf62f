"""A cluster that runs jobs for users, in the background: `holdfast job`.

Rules of this package:
- One process holds one cluster: a deployment of a system under test on real processes, and one job at a time in it.
  It writes the address of its endpoint into its folder, and ends on request.
- Requests of users come by HTTP, on Flink's paths, in a thread of their own. The cluster takes them between two steps
  of the deployment. An asynchronous request has a trigger id, by which its result is polled.
- It knows no concrete system: commands go through `spi.controls.job`, and what came of them is reported by events.
"""
