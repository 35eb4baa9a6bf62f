"""A jar of somebody else on Flink: what is refused of it, and how it is judged."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.pipelines.output.layouts import VisibleFiles
from holdfast.fixtures.services.processes.installation import FLINK, place
from holdfast.fixtures.services.processes.java_classes import compiled
from holdfast.fixtures.systems.flink import running_job
from holdfast.fixtures.systems.flink.cluster import end_warm_cluster
from holdfast.fixtures.systems.flink.jar_system import JarOnFlink, flink
from holdfast.fixtures.systems.flink.rest import Refused
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.journal import Status
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.suites.conformance.flink.jars import CASES

SOURCES = Path(__file__).with_name("jars")
DECLARED = SOURCES / "orders.py"


def declared(folder: Path, more: str = "") -> str:
    """The path of a jar, with its module beside it."""
    (folder / "orders.jar").touch()
    (folder / "orders.py").write_text(DECLARED.read_text() + more)
    return str(folder / "orders.jar")


def test_a_jar_is_named_by_its_path_and_a_version_may_stand_in_front(tmp_path: Path) -> None:
    jar = declared(tmp_path)
    assert isinstance(flink(jar), JarOnFlink)
    older = flink(f"1.20+{jar}")
    assert older.name == f"flink+1.20+{jar}"
    assert older.versions(Tier.PROCESS)["flink"] == "1.20.3"
    assert type(flink("keeps-in-field")) is Flink
    assert registry.needs_trust(f"flink+{jar}", repeats=False)
    assert not registry.needs_trust("flink+1.20+keeps-in-field", repeats=True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "makes no records: write SCHEMA and generate"),
        (f"{DECLARED.read_text()}\ndel UNIQUE", "nothing says what is expected"),
        (f"{DECLARED.read_text()}\ndel UNIQUE\ndef batch(spark, inputs): ...", "which Spark would run"),
        (f"{DECLARED.read_text()}\nOUTPUT = {{'kind': 'topic'}}", "is no folder of files"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    jar = declared(tmp_path)
    (tmp_path / "orders.py").write_text(text)
    with pytest.raises(ValueError, match=sentence.replace("(", "[(]")):
        flink(jar)
    (tmp_path / "orders.py").unlink()
    with pytest.raises(ValueError, match="a jar needs a module of its name beside it"):
        flink(jar)


def test_it_claims_what_its_module_declares_and_runs_no_other_plan(tmp_path: Path) -> None:
    sums, records = (Plan(system="flink", job=job, workload=WorkloadSpec("synthetic")) for job in (KEYED_SUM, FORWARD))
    own = flink(declared(tmp_path))
    assert Guarantee.NO_DUPLICATE in own.claims(records).output
    assert "judged by contract records, and not fold" in own.objection(sums, Tier.PROCESS)
    modest = flink(declared(tmp_path, '\nGUARANTEE = "at-least-once"\n'))
    assert Guarantee.NO_DUPLICATE not in modest.claims(records).output


def test_a_part_of_a_file_sink_counts_as_soon_as_its_name_does_not_hide_it() -> None:
    tree = dict.fromkeys(
        ("2026-01-01--10/part-a-0", "2026-01-01--10/.part-a-1.inprogress.b", "_staging/x", "part-b"), ()
    )
    assert VisibleFiles().units(tree) == {each: [each] for each in ("2026-01-01--10/part-a-0", "part-b")}


@pytest.fixture(scope="module")
def _cluster() -> Iterator[None]:
    if reason := Flink().lacking():
        pytest.skip(reason)
    yield
    end_warm_cluster()


def built(main: str, folder: Path) -> str:
    """A jar of one program, with its module beside it."""
    jar = folder / "orders.jar"
    classes = compiled(SOURCES / f"{main}.java", place(FLINK))
    with zipfile.ZipFile(jar, "w") as made:
        made.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nMain-Class: {main}\n")
        for path in classes.rglob("*.class"):
            made.write(path, path.relative_to(classes).as_posix())
    shutil.copy(DECLARED, folder)
    return str(jar)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("flink")
@pytest.mark.usefixtures("_cluster")
@pytest.mark.parametrize(("main", "status", "runs"), [("Orders", Status.PASS, 3), ("WrongOrders", Status.FAIL, 1)])
def test_a_right_jar_passes_and_a_wrong_one_is_refuted(main: str, status: Status, runs: int, tmp_path: Path) -> None:
    """Of the wrong one each row is a file, which takes long to read: the run with two kills is enough."""
    case = replace(CASES[0], runs=runs)
    result = run_case(f"flink+{built(main, tmp_path)}", case, Tier.PROCESS, folder=tmp_path / "runs")
    assert result.status is status, result.reason
    assert ("EXACT/row-repeated" in result.reason) is (status is Status.FAIL)


@pytest.mark.parametrize(("error", "ends"), [(OSError("timed out"), True), (Refused("no such class"), False)])
def test_a_job_that_may_run_all_the_same_takes_its_cluster_along(
    error: OSError, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to a submission was lost: the job ran beside the next one, whose history held both."""
    ended: list[bool] = []
    monkeypatch.setattr(running_job, "end_warm_cluster", lambda: ended.append(True))
    running_job.RunningJob._not_begun(error)
    assert bool(ended) is ends
