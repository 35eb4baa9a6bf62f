"""Services beside Flink: which a plan needs, what has nothing to act on, and Flink's settings for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.services.object_store import Keys
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.flink import configuration, object_storage, services
from holdfast.fixtures.systems.flink.connectors import INPUT, OUTPUT, Files, fold_row_of
from holdfast.fixtures.systems.flink.our_job import connectors_of
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.target import STORAGE, Role, Target
from holdfast.harness.spi.service import OUR_LOCATION, Login, Site
from holdfast.harness.spi.system import OptionUse

TOPICS = {profile.SOURCE_CONNECTOR: "kafka", profile.SINK_CONNECTOR: "kafka"}
OBJECTS = {profile.DIRECTORY: "s3://holdfast/checkpoints"}
BROKER = Target(Role.BROKER)


def a_plan(options: dict[str, str], *faults: FaultSpec) -> Plan:
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
    assert services.needed(a_plan(options)) == names


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
    assert sentence in services.objection(a_plan(options, *faults), "", lambda: pytest.fail("nobody needs services"))


def test_a_fault_within_flink_needs_no_service_and_a_broker_with_a_login_is_none_of_ours() -> None:
    slow = FaultSpec("slow-storage", STORAGE)
    assert services.objection(a_plan({}, slow), "", lambda: pytest.fail("nobody needs services")) == ""
    secured = SiteServices(Site(kafka_bootstrap="a:1", kafka_login=Login(protocol="SSL")))
    assert "reaches brokers without SSL" in services.objection(a_plan(TOPICS), "", lambda: secured)


@pytest.mark.parametrize(("variant", "options"), [("repeats-in-topic", {}), ("writes-at-once", TOPICS)])
def test_a_wrong_job_is_wrong_with_files_or_with_topics(variant: str, options: dict[str, str]) -> None:
    found = services.objection(a_plan(options), variant, lambda: pytest.fail("nobody needs services"))
    assert found.startswith(f"{variant} is wrong with")


def test_the_sink_claims_what_it_is_told_to_keep_and_options_of_topics_are_applied() -> None:
    system, repeating = Flink(), {**TOPICS, profile.DELIVERY: "at-least-once"}
    assert system.claims(a_plan(TOPICS)).output == EXACTLY_ONCE
    assert system.claims(a_plan(repeating)).output == AT_LEAST_ONCE
    assert system.claims(a_plan(repeating)).state == EXACTLY_ONCE
    in_files = {profile.DELIVERY: "at-least-once"}
    assert system.claims(a_plan(in_files)).output == EXACTLY_ONCE
    assert {each.use for each in system.account(a_plan(repeating))} == {OptionUse.APPLIED}
    assert {each.use for each in system.account(a_plan(in_files))} == {OptionUse.UNSUPPORTED}
    ours = {**TOPICS, profile.BATCH_RECORDS: "8"}
    assert [each.key for each in system.account(a_plan(ours)) if each.use is OptionUse.UNSUPPORTED] == [
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
    given = object_storage.settings(AStore())  # type: ignore[arg-type]
    assert given["s3.endpoint"] == AStore.proxied
    assert given["s3.directory.marker.retention"] == "keep"
    assert not {"public", "secret"} & set(given.values())
    variables = object_storage.environment(AStore(), jars, tmp_path / "plugins")  # type: ignore[arg-type]
    assert variables["AWS_SECRET_ACCESS_KEY"] == "secret"
    [plugin] = Path(variables["FLINK_PLUGINS_DIR"], "s3").iterdir()
    assert plugin.name == "flink-s3-fs-hadoop-1.0.jar"


def test_checkpoints_are_where_a_plan_has_them() -> None:
    folder, objects = Path("/tmp/run"), Path("/holdfast/run")
    both = {**OBJECTS, profile.SAVEPOINT_DIRECTORY: "anywhere"}
    assert configuration.of_job(both, folder)[profile.DIRECTORY] == "file:///tmp/run/checkpoints"
    assert configuration.of_job(both, folder, "holdfast")[profile.SAVEPOINT_DIRECTORY] == "file:///tmp/run/savepoints"
    among_objects = configuration.of_job(both, objects, object_storage.SCHEME)
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
    ends = connectors_of(a_plan({}), 2, tmp_path, "", None)
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
