"""The public base of engines that run as processes: what an adapter of yours stands on.

    class MyEngine(Engine):
        name = "my-engine"

        def command(self, worker: int) -> Sequence[str]: ...
        def append(self, partition: int, offset: int, records: Sequence[tuple[str, int]]) -> None: ...
        def positions(self) -> Sequence[int]: ...
        def reader(self) -> Reader: ...

`engine.Engine` is an `spi.system.System`; `holdfast certify my_module:MyEngine --tier process` certifies it. The guide
is `harness/adapter/README.md`, and `holdfast new system NAME` writes one that runs.

Rules of this package:
- It imports `harness.model` and `harness.spi`, and nothing else of ours. It owns clocks, sockets and processes.
- An engine is a stranger: its processes share no code with the judge, and what they say is never what they are judged
  by. Rows are read by a process of the harness that only reads.
- No threads: everything happens while the engine of the harness lets a deployment advance.
- Every process dies with the one that started it, and is ended with all of its group. SIGKILL comes from outside.
"""
