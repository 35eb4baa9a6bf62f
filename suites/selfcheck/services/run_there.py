"""Run as a module: a pipeline between services of others, which are said on standard input; prints how it was judged.

python -P -m holdfast.suites.selfcheck.services.run_there FOLDER
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Site
from holdfast.suites.chaos.structured_streaming import CASES


class Judged(msgspec.Struct, frozen=True):
    """What came of it. `units`: of output that became visible; `shown`: secrets that kept files hold."""

    outcome: Outcome
    reason: str
    units: int
    shown: int


def run_there(site: Site, folder: Path) -> Judged:
    """From a topic to a topic, with checkpoints in the store.

    Args:
        site: what it runs between.
        folder: existing and empty.
    """
    [plan] = [case.plan for case in CASES if case.id == "chaos/spark-kafka-sink"]
    assert isinstance(plan, Plan)
    plan = replace(plan, options={**plan.options, "source.connector": "kafka"})
    with closing(SiteServices(site)) as services:
        system = StructuredStreaming()
        system.attach(lambda: services)
        run = run_plan(plan, system, toolbox(), Tier.SPARK, folder)
        secrets = services.processes.secrets
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    shown = sum(any(secret.encode() in content for content in kept) for secret in secrets)
    return Judged(run.outcome, run.reason, len(run.history.output.units), shown)


def main() -> None:
    site = msgspec.json.decode(sys.stdin.buffer.read(), type=Site)
    sys.stdout.write(f"{msgspec.json.encode(run_there(site, Path(sys.argv[1]))).decode()}\n")


if __name__ == "__main__":
    main()
