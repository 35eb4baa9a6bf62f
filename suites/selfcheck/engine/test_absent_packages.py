"""What a machine lacks leaves cases out as a whole, by name: none is run in vain, and none ends in an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from holdfast.fixtures.systems.reference import CAPABILITIES, ReferenceSystem
from holdfast.harness.engine.cases.case import why_not_applicable
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier

NEEDED = Capability.INCREMENTAL_CHECKPOINTS
PACKAGES = (
    "allure_commons", "boto3", "botocore", "confluent_kafka", "deltalake", "docker", "duckdb", "fastavro",
    "hdfs_native", "jsonschema", "minio", "pandas", "pika", "psycopg", "py4j", "pyiceberg", "pyspark", "requests",
    "rocksdict", "testcontainers", "toxiproxy", "urllib3", "xdist",
)  # fmt: skip
"""Whatever an extra brings: a program that knows nothing of them is started with none that can be found."""
SYSTEMS = ("reference", "kafka-streams", "spark", "persists-first")
HIDDEN = """
import sys
from importlib.machinery import PathFinder

class WithoutExtras(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {packages!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutExtras
"""
LOOK = """
import json
from holdfast.harness.engine.cases.case import plan_of, system_under_test, why_not_applicable
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier

tools, applies, reasons, wrong = registry.toolbox(), 0, set(), []
for name in {systems!r}:
    system = registry.system(name)
    for case in registry.cases():
        for tier in set(case.tiers) & system.capabilities.keys() - {{Tier.CONTAINERS}}:
            try:
                under_test = system_under_test(case, system, first_seed=1)
                if reason := why_not_applicable(case, under_test, tier, tools):
                    reasons.add(reason)
                    continue
            except NotApplicable:
                continue
            except UsageError:  # It is what the run shows.
                continue
            except Exception as error:
                wrong.append(f"{{name}}, {{case.id}} on {{tier}} raises {{error!r}}")
                continue
            applies += 1
            if absent := case.needs - under_test.capabilities[tier]:
                wrong.append(f"{{name}}, {{case.id}} on {{tier}} applies, and needs {{sorted(absent)}}")
            for number in range(case.runs):
                try:
                    plan = plan_of(case, under_test, 1, number)
                    check_plan(plan, under_test, tier, tools)
                    check_options(plan, under_test)
                except NotApplicable as error:
                    wrong.append(f"{{name}}, {{case.id}} on {{tier}}, plan {{number}} alone does not apply: {{error}}")
                except UsageError:
                    continue
print(json.dumps([applies, sorted(reasons), wrong]))
"""


class OnOneTier(ReferenceSystem):
    """It has a capability on one tier, and not on another."""

    capabilities = {
        tier: declared - ({NEEDED} if tier is Tier.PROCESS else set()) for tier, declared in CAPABILITIES.items()
    }


def test_what_a_system_has_on_another_tier_is_not_enough() -> None:
    case = next(each for each in registry.cases() if each.id == "rescaling/in-place-increments")
    assert case.needs >= {NEEDED}
    system, tools = OnOneTier(), registry.toolbox()
    assert why_not_applicable(case, system, Tier.SIM, tools) == ""
    why = why_not_applicable(case, system, Tier.PROCESS, tools)
    assert why == "reference does not declare incremental-checkpoints on tier process"


def test_a_case_applies_with_all_its_plans_or_is_left_out_by_name(tmp_path: Path) -> None:
    program = tmp_path / "look.py"
    program.write_text(HIDDEN.format(packages=set(PACKAGES)) + LOOK.format(systems=SYSTEMS), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    applies, reasons, wrong = json.loads(done.stdout)
    assert wrong == []
    assert applies > 400
    assert any("rocksdict" in each for each in reasons)
    assert any("pip install 'holdfast-chaos[services]'" in each for each in reasons)
    assert not any("does not declare" in each and "on tier process" in each for each in reasons)  # Names no package.
