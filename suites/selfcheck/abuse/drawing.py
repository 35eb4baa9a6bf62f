"""Run as a script: draws plans in two worker processes until it is told to stop. The argument is a file to touch."""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.harness.engine.cases.case_run import CaseRun, run_until
from holdfast.harness.engine.cases.swarm_case import swarm_case
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.model.case import Tier


def main() -> None:
    system = registry.system("reference")
    with listening() as interruption:
        case_run = CaseRun(swarm_case(system), system, Tier.SIM, registry.toolbox(), interrupted=interruption.reason)
        for number, _ in enumerate(run_until(case_run, 1_000_000, jobs=2)):
            if number == 1:
                Path(sys.argv[1]).touch()
    sys.exit(interruption.exit_code if interruption.signal else 0)


if __name__ == "__main__":
    main()
