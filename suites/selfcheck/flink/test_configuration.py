"""How Flink is configured, alone and beside services: its files, its small disk, and what has nothing to act on."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from holdfast.fixtures.services.object_store import Keys
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.flink import configuration, services, stored
from holdfast.fixtures.systems.flink.connectors import INPUT, OUTPUT, Files, PartFiles, fold_row_of
from holdfast.fixtures.systems.flink.log import LogTail
from holdfast.fixtures.systems.flink.our_job import connectors_of
from holdfast.fixtures.systems.flink.stored import SmallDisk, StoredCheckpoints, no_small_disk, unmount
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.commands.services import install_flink
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, JOIN, KEYED_SUM, TOP_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.target import STORAGE, Role, Target
from holdfast.harness.spi.service import OUR_LOCATION, Login, Site
from holdfast.harness.spi.system import OptionUse
from holdfast.suites.conformance.flink.twins import flink

OPTIONS = {profile.INTERVAL: "200 ms", profile.DIRECTORY: "file:///checkpoints", profile.RETAINED: "3"}


def a_plan(options: dict[str, str] = OPTIONS) -> Plan:
    return Plan(system="flink", job=KEYED_SUM, options=options, workload=WorkloadSpec("synthetic"))


def test_every_option_is_accounted_for() -> None:
    accounts = {each.key: each.use for each in Flink().account(a_plan(OPTIONS | {"sink.connector": "jdbc"}))}
    assert accounts == {
        profile.INTERVAL: OptionUse.APPLIED,
        profile.DIRECTORY: OptionUse.EQUIVALENT,
        profile.RETAINED: OptionUse.APPLIED,
        "sink.connector": OptionUse.UNSUPPORTED,
    }


def test_an_option_goes_to_the_cluster_or_to_the_job(tmp_path: Path) -> None:
    assert configuration.of_cluster(OPTIONS, "2.3.0") == {profile.RETAINED: "3"}
    given = configuration.job_settings(OPTIONS, tmp_path)
    assert profile.RETAINED not in given
    assert given[profile.INTERVAL] == "200 ms"
    assert given[profile.DIRECTORY] == f"file://{tmp_path}/checkpoints"


def test_a_job_that_it_does_not_compile_does_not_suit_it_and_an_unknown_variant_is_refused() -> None:
    other = Plan(system="flink", job=TOP_SUM, options=OPTIONS, workload=WorkloadSpec("synthetic"))
    assert "kind top-sum" in Flink().objection(other, Tier.PROCESS)
    with pytest.raises(ValueError, match="no variant 'x'"):
        Flink("x")


def test_in_1_20_the_cluster_decides_what_lies_in_metadata() -> None:
    inline = {profile.INLINE_THRESHOLD: "0 b"}
    assert configuration.of_cluster(inline, "2.3.0") == {}
    assert configuration.of_cluster(inline, "1.20.3") == inline


def test_a_system_is_of_a_version_and_so_are_its_wrong_jobs() -> None:
    found = {
        name: Flink(name).versions(Tier.PROCESS)["flink"] for name in ("", "2", "1.20", "1.20.3", "keeps-in-field")
    }
    assert found == {"": "2.3.0", "2": "2.3.0", "1.20": "1.20.3", "1.20.3": "1.20.3", "keeps-in-field": "2.3.0"}
    older = Flink("1.20+keeps-in-field")
    assert older.name == "flink+1.20+keeps-in-field"
    assert older.of_its_version("flink+changes-uid") == "flink+1.20+changes-uid"
    assert Flink().of_its_version("flink+changes-uid") == "flink+changes-uid"
    for wrong in ("1.2", "1.20+nobody", "nobody+1.20", "1.20.", "+1.20"):
        with pytest.raises(ValueError, match=r"use a version of 2\.3\.0, .*1\.20\.3, .*one of keeps-in-field"):
            Flink(wrong)


def test_a_version_that_the_adapter_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Flink 1\.2 is none that the adapter knows: use 2\.3\.0"):
        install_flink("1.2")
    with pytest.raises(UsageError, match=r"Flink 2\.30 is none"):
        install_flink("2.30")


def test_rows_of_finished_files_alone_and_a_file_that_grows_is_read_on(tmp_path: Path) -> None:
    files = PartFiles(str(tmp_path / "output"))
    assert files.new_rows() == []
    (tmp_path / "output").mkdir()
    part = tmp_path / "output/part-a-0"
    part.write_text("key\t3\t18446744073709551615\t1\t0\nke")
    (tmp_path / "output/.part-b-0.inprogress").write_text("key\t9\t1\t1\t0\n")
    [(place, row)] = files.new_rows()
    assert place == "part-a-0:0"
    assert isinstance(row, FoldRow)
    assert (row.key, row.value, row.counts, row.digest) == ("key", 3, (1, 0), 2**64 - 1)
    part.write_text(part.read_text() + "y\t4\t5\t2\t0\n")
    assert [place for place, _ in files.new_rows()] == ["part-a-0:1"]
    assert files.new_rows() == []


def test_a_log_is_read_as_it_grows_and_what_is_no_entry_is_left_out(tmp_path: Path) -> None:
    tail = LogTail(tmp_path / "log")
    assert list(tail.lines()) == []
    (tmp_path / "log").write_text('{"t":1.5,"c":"a.B","m":"one"}\nno entry\n{"t":2,"c":"a.B",')
    assert [(line.t, line.logger, line.m) for line in tail.lines()] == [(1.5, "B", "one")]
    with (tmp_path / "log").open("a") as log:
        log.write('"m":"two","e":"trace"}\n')
    assert [(line.m, line.e) for line in tail.lines()] == [("two", "trace")]


def test_a_drawn_plan_is_not_suspended_and_commits_what_its_input_ends_with() -> None:
    """No command of Flink suspends a job, and without a checkpoint behind the end Flink does not commit it."""
    off = {profile.AFTER_FINISH: "false"}
    for job, end in ((KEYED_SUM, ExpectedEnd.RUNNING), (bounded(KEYED_SUM), ExpectedEnd.FINISHED)):
        plan = Flink().suited(flink(job=job, options=off, expected_end=ExpectedEnd.SUSPENDED), Tier.PROCESS)
        assert plan.expected_end is end
        assert (profile.AFTER_FINISH in plan.options) is not job.bounded


@pytest.mark.parametrize(
    ("job", "parallelism", "mode", "claimed"),
    [
        (FORWARD, 2, "AT_LEAST_ONCE", EXACTLY_ONCE),
        (KEYED_SUM, 1, "AT_LEAST_ONCE", EXACTLY_ONCE),
        (KEYED_SUM, 2, "AT_LEAST_ONCE", AT_LEAST_ONCE),
        (JOIN, 1, "AT_LEAST_ONCE", AT_LEAST_ONCE),
        (JOIN, 2, "EXACTLY_ONCE", EXACTLY_ONCE),
    ],
)
def test_what_never_aligns_is_exactly_once_in_either_mode(
    job: Job, parallelism: int, mode: str, claimed: frozenset[Guarantee]
) -> None:
    plan = flink(job=job, options={profile.MODE: mode}, topology=Topology(parallelism))
    assert Flink().claims(plan).state == claimed


def test_nothing_can_be_written_while_it_is_full(tmp_path: Path) -> None:
    if reason := no_small_disk():
        pytest.skip(reason)
    folder = tmp_path / "checkpoints"
    try:
        disk = SmallDisk(folder)
    except OSError as error:
        pytest.skip(f"this machine mounts nothing: {error}")
    try:
        disk.fill()
        assert not disk.has_room()
        with pytest.raises(OSError) as refused:
            (folder / "state").write_bytes(bytes(8 << 10))
        assert refused.value.errno == errno.ENOSPC
        disk.empty()
        disk.empty()
        assert disk.has_room()
        (folder / "state").write_bytes(bytes(8 << 10))
    finally:
        disk.close()
    assert not folder.is_mount()
    assert not list(folder.iterdir())
    assert not unmount(folder)


def test_it_remembers_that_it_was_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Flink writes of it is read when its room may have been given back."""
    monkeypatch.setattr(stored, "_run", lambda *command: None)
    disk = SmallDisk(tmp_path / "checkpoints")
    assert not disk.filled
    disk._filler = Path("/dev/full")
    disk.fill()
    disk._filler = tmp_path / "full"
    disk.empty()
    assert disk.filled


TOPICS = {profile.SOURCE_CONNECTOR: "kafka", profile.SINK_CONNECTOR: "kafka"}
OBJECTS = {profile.DIRECTORY: "s3://holdfast/checkpoints"}
BROKER = Target(Role.BROKER)


def plan_with_services(options: dict[str, str], *faults: FaultSpec) -> Plan:
    return Plan(system="flink", job=KEYED_SUM, options=options, faults=faults, workload=WorkloadSpec("synthetic"))


class AStore:
    external = internal = "http://127.0.0.1:1"
    proxied = "http://127.0.0.1:2"
    keys = Keys("public", "secret")
    location = OUR_LOCATION


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ()),
        (TOPICS, (KAFKA,)),
        (OBJECTS, (OBJECT_STORE,)),
        ({**TOPICS, **OBJECTS}, (KAFKA, OBJECT_STORE)),
        ({profile.DIRECTORY: "s3:///no-bucket"}, ()),
    ],
)
def test_what_a_plan_needs(options: dict[str, str], names: tuple[str, ...]) -> None:
    assert services.needed(plan_with_services(options)) == names


@pytest.mark.parametrize(
    ("options", "faults", "sentence"),
    [
        ({profile.SOURCE_CONNECTOR: "kafka"}, (), "only one of source and sink is a topic: set sink"),
        ({**TOPICS, profile.DELIVERY: "sometimes"}, (), "is 'sometimes': use one of exactly-once, at-least-once."),
        ({}, (FaultSpec("outage", BROKER),), "outage of broker[0] has nothing to act on, since it is files: set sou"),
        (TOPICS, (FaultSpec("cut", STORAGE),), "cut of storage[0] has nothing to act on, since it is files: begin"),
        (
            TOPICS,
            (FaultSpec("cut", BROKER), FaultSpec("cut", Target(Role.CHANNEL, 1))),
            "one fault acts on a link inside Flink and another one on a service",
        ),
        (OBJECTS, (FaultSpec("damage", STORAGE),), "damage acts on a file, and checkpoints are objects"),
    ],
)
def test_what_does_not_fit_has_a_sentence(
    options: dict[str, str], faults: tuple[FaultSpec, ...], sentence: str
) -> None:
    assert sentence in services.objection(
        plan_with_services(options, *faults), "", lambda: pytest.fail("nobody needs services")
    )


def test_a_fault_within_flink_needs_no_service_and_a_broker_with_a_login_is_none_of_ours() -> None:
    slow = FaultSpec("slow-storage", STORAGE)
    assert services.objection(plan_with_services({}, slow), "", lambda: pytest.fail("nobody needs services")) == ""
    secured = SiteServices(Site(kafka_bootstrap="a:1", kafka_login=Login(protocol="SSL")))
    assert "reaches brokers without SSL" in services.objection(plan_with_services(TOPICS), "", lambda: secured)


@pytest.mark.parametrize(("variant", "options"), [("repeats-in-topic", {}), ("writes-at-once", TOPICS)])
def test_a_wrong_job_is_wrong_with_files_or_with_topics(variant: str, options: dict[str, str]) -> None:
    found = services.objection(plan_with_services(options), variant, lambda: pytest.fail("nobody needs services"))
    assert found.startswith(f"{variant} is wrong with")


def test_the_sink_claims_what_it_is_told_to_keep_and_options_of_topics_are_applied() -> None:
    system, repeating = Flink(), {**TOPICS, profile.DELIVERY: "at-least-once"}
    assert system.claims(plan_with_services(TOPICS)).output == EXACTLY_ONCE
    assert system.claims(plan_with_services(repeating)).output == AT_LEAST_ONCE
    assert system.claims(plan_with_services(repeating)).state == EXACTLY_ONCE
    in_files = {profile.DELIVERY: "at-least-once"}
    assert system.claims(plan_with_services(in_files)).output == EXACTLY_ONCE
    assert {each.use for each in system.account(plan_with_services(repeating))} == {OptionUse.APPLIED}
    assert {each.use for each in system.account(plan_with_services(in_files))} == {OptionUse.UNSUPPORTED}
    ours = {**TOPICS, profile.BATCH_RECORDS: "8"}
    assert [each.key for each in system.account(plan_with_services(ours)) if each.use is OptionUse.UNSUPPORTED] == [
        profile.BATCH_RECORDS
    ]


def test_a_jar_has_neither_topics_nor_objects(tmp_path: Path) -> None:
    (tmp_path / "job.jar").touch()
    (tmp_path / "job.py").write_text(
        'SCHEMA = "id string"\nUNIQUE = ["id"]\ngenerate = lambda number, partition, offset, random: {"id": "1"}\n'
    )
    from holdfast.fixtures.systems.flink.jar_system import JarOnFlink

    system = JarOnFlink(str(tmp_path / "job.jar"))
    plan = system.rehearsals(Tier.PROCESS)[0]
    assert "leave broker and store out" in system.objection(
        Plan(system=system.name, job=plan.job, options=TOPICS, workload=plan.workload), Tier.PROCESS
    )


def test_flink_is_told_of_the_store_and_no_file_holds_a_key(tmp_path: Path) -> None:
    jars = tmp_path / "jars"
    jars.mkdir()
    (jars / "flink-s3-fs-hadoop-1.0.jar").touch()
    (jars / "flink-core-1.0.jar").touch()
    given = configuration.storage_settings(AStore())  # type: ignore[arg-type]
    assert given["s3.endpoint"] == AStore.proxied
    assert given["s3.directory.marker.retention"] == "keep"
    assert not {"public", "secret"} & set(given.values())
    variables = configuration.storage_environment(AStore(), jars, tmp_path / "plugins")  # type: ignore[arg-type]
    assert variables["AWS_SECRET_ACCESS_KEY"] == "secret"
    [plugin] = Path(variables["FLINK_PLUGINS_DIR"], "s3").iterdir()
    assert plugin.name == "flink-s3-fs-hadoop-1.0.jar"


def test_checkpoints_are_where_a_plan_has_them() -> None:
    folder, objects = Path("/tmp/run"), Path("/holdfast/run")
    both = {**OBJECTS, profile.SAVEPOINT_DIRECTORY: "anywhere"}
    assert configuration.job_settings(both, folder)[profile.DIRECTORY] == "file:///tmp/run/checkpoints"
    assert (
        configuration.job_settings(both, folder, "holdfast")[profile.SAVEPOINT_DIRECTORY]
        == "file:///tmp/run/savepoints"
    )
    among_objects = configuration.job_settings(both, objects, configuration.SCHEME)
    assert among_objects[profile.DIRECTORY] == "s3://holdfast/run/checkpoints"
    assert among_objects[profile.SAVEPOINT_DIRECTORY] == "s3://holdfast/run/savepoints"


def test_what_a_silent_store_holds_is_not_known_and_what_it_lists_is_not_made_up() -> None:
    def silent(folder: Path) -> tuple[FileReference, ...]:
        raise OSError("no answer")

    def one(folder: Path) -> tuple[FileReference, ...]:
        return (FileReference(f"{folder}/_metadata", 1, 2),)

    places = Path("/holdfast/run/checkpoints"), Path("/holdfast/run/savepoints")
    metadata = "/holdfast/run/checkpoints/job/chk-1/_metadata"
    assert [each.path for each in StoredCheckpoints(*places, "job", one).files(metadata)] == [metadata]
    stored = StoredCheckpoints(*places, "job", silent)
    assert stored.files(metadata) == ()
    with pytest.raises(OSError, match="no answer"):
        stored.listed()


def test_files_are_the_ends_where_no_topic_is_named(tmp_path: Path) -> None:
    ends = connectors_of(plan_with_services({}), 2, tmp_path, "", None)
    assert isinstance(ends, Files)
    ends.append(1, 0, [("key", 3)])
    assert (tmp_path / INPUT / "partition-1.log").read_text() == "key\t3\n"
    assert ends.arguments == {INPUT: str(tmp_path / INPUT), OUTPUT: (tmp_path / OUTPUT).as_uri()}


def test_a_row_of_a_topic_is_a_line_as_in_files() -> None:
    pytest.importorskip("confluent_kafka")
    from holdfast.fixtures.systems.flink.topics import TopicLines

    assert TopicLines.decoded(None, b"key\t3\t7\t1\t0") == fold_row_of("key\t3\t7\t1\t0")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a row is 'key'"):
        fold_row_of("key")
