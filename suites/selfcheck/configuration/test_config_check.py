"""`holdfast config check`, of Flink's files and of spark-defaults.conf: every option with its origin, what is odd."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.reference.protocol.configuration.layers import FLAT, NESTED, lines_of
from holdfast.fixtures.systems.structured_streaming.effective_configuration import KNOWN, RISKS, Line
from holdfast.fixtures.systems.structured_streaming.effective_configuration import lines_of as lines_of_spark
from holdfast.harness import cli
from holdfast.harness.commands.configuration import MOST_LINES, ODD
from holdfast.harness.model.configuration import ConfigurationFile, EffectiveConfiguration, NoteKind, Origin

FILE = """\
restart-strategy:
  type: failure-rate
  failure-rate.max-failures-per-interval: 3
  failure-rate.failure-rate-interval: 1 s
  failure-rate.delay: 5 min
execution.checkpointing.intervall: 1 s
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(FILE)
    return path


def test_every_option_is_shown_with_its_origin(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["config", "check", str(file), "--all", "--set", "execution.checkpointing.timeout=1h"]
    assert cli.execute(arguments) == ODD
    lines = capsys.readouterr().out.splitlines()
    shown = {line.split()[0]: line.split()[1:] for line in lines}
    assert shown["restart-strategy.type"] == ["failure-rate", "file", "config.yaml:2"]
    assert shown["execution.checkpointing.timeout"] == ["3600000", "ms", "code"]
    assert shown["execution.checkpointing.interval"] == ["0", "ms", "default", "flink-2.x"]
    odd = [line for line in lines if line.startswith(("warning", "lint"))]
    assert [line.partition(":")[0] for line in odd] == ["warning unknown-option", "lint failure-rate-never-reached"]
    assert "was execution.checkpointing.interval meant?" in odd[0]


def test_ten_lines_say_what_it_comes_to(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["config", "check", str(file)]) == ODD
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 10
    assert lines[0].startswith("checkpoints off: execution.checkpointing.interval is not set")
    assert "3 failures in 1 s, a restart after 5 min" in lines[3]


SHIPPED = """\
# A comment.
env:
  java:
    opts:
      all: --add-exports=java.base/sun.net.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
jobmanager:
  bind-host: localhost
  rpc:
    address: localhost
    port: 6123
  memory.process.size: 1600m
  execution:
    failover-strategy: region
taskmanager:
  numberOfTaskSlots: 1
parallelism:
  default: 1
# execution:
#   checkpointing:
#     interval: 3min
rest:
  address: localhost
  # port: 8081
state.backend.rocksdb.localdir: /data/rocksdb
"""
"""Of such lines is the `config.yaml` that Flink 1.20 and 2.x ship."""
SHIPPED_FLAT = """\
env.java.opts.all: --add-exports=java.base/sun.net.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
jobmanager.rpc.address: localhost
jobmanager.bind-host: localhost
jobmanager.memory.process.size: 1600m
# execution.checkpointing.interval: 3min
jobmanager.execution.failover-strategy: region
parallelism.default: 1
"""
"""And of such ones the older `flink-conf.yaml`."""


@pytest.mark.parametrize(("name", "text", "more"), [("config.yaml", SHIPPED, 6), ("flink-conf.yaml", SHIPPED_FLAT, 2)])
def test_options_of_other_parts_of_a_cluster_are_no_mistake(
    name: str, text: str, more: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / name).write_text(text)
    assert cli.execute(["config", "check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("warning", "lint"))] == []
    [others] = [line for line in lines if line.startswith("info other-options")]
    assert re.search(rf"env\.java\.opts\.all, .* and {more} more: of other parts of the cluster", others)


def test_a_former_key_is_told_its_new_name(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("state.checkpoints.dir: file:///c\nexecution.checkpointing.interval: 10 s\n")
    assert cli.execute(["config", "check", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "in Flink 2.x state.checkpoints.dir is execution.checkpointing.dir." in shown
    file.write_text("holdfast.profile: flink-1.14\nstate.checkpoints.dir: file:///c\n")
    assert cli.execute(["config", "check", str(file)]) == 0
    assert "former-keys" not in capsys.readouterr().out


DEPLOYMENT = """apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
spec:
  flinkVersion: v1_20
  flinkConfiguration:
    taskmanager.numberOfTaskSlots: "2"

    execution.checkpointing.interval: 10s
    execution.checkpointing.max-concurrent-checkpoints: "2"
    execution.checkpointing.min-pause: 5s
  podTemplate:
    spec:
      containers:
        - {name: main, args: [a, b]}
"""


def test_a_deployment_of_kubernetes_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text(DEPLOYMENT)
    assert cli.execute(["config", "check", str(file), "--all"]) == ODD
    shown = capsys.readouterr().out
    assert re.search(r"^execution\.checkpointing\.interval +10000 ms +file deployment\.yaml:8$", shown, re.MULTILINE)
    assert "warning pause-with-concurrency: " in shown
    file.write_text(DEPLOYMENT.replace("flinkConfiguration", "flinkSettings"))
    assert cli.execute(["config", "check", str(file)]) == cli.WRONG_USAGE
    assert "stand below its one line `flinkConfiguration:`, and there are 0" in capsys.readouterr().err


def test_a_program_reads_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["config", "check", str(file), "--json"]) == ODD
    printed = msgspec.json.decode(capsys.readouterr().out, type=EffectiveConfiguration)
    assert {setting.key for setting in printed.settings if setting.origin is Origin.FILE} == {
        "restart-strategy.type",
        "restart-strategy.failure-rate.max-failures-per-interval",
        "restart-strategy.failure-rate.failure-rate-interval",
        "restart-strategy.failure-rate.delay",
    }


def test_a_refused_file_is_one_sentence(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("restart-strategy:\n  type: sometimes\n")
    assert cli.execute(["config", "check", str(file)]) == cli.WRONG_USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "config.yaml: option restart-strategy.type = 'sometimes' cannot be read" in said.err


READ = [
    (FLAT, "a: hdfs:///x  # where\nb.c :  10 s\n\n# d: e\n", {"a": "hdfs:///x", "b.c": "10 s"}),
    (NESTED, "a:\n  b: 10 s # long\n  c.d: 'e # f'\ng: \"h: i\"\n", {"a.b": "10 s", "a.c.d": "e # f", "g": "h: i"}),
    (NESTED, "---\na: s3://b/k#1\n'b': 1\n", {"a": "s3://b/k#1", "b": "1"}),
    (NESTED, "a:\n- /x\n- '/y'\nb:\n  - z\nc: [p, \"q\"]\n", {"a": "/x;/y", "b": "z", "c": "p;q"}),
    (NESTED, "# nothing\n", {}),
]
REFUSED = [
    (FLAT, "a", "line 1 is 'a': write 'key: value'."),
    (FLAT, "a: 1\nb:2", "line 2 is 'b:2'"),
    (NESTED, "a:\n  b: 1\n c: 2", "line 3 stands under no key"),
    (NESTED, "a: 1\n  b: 2", "line 2 stands under no key"),
    (NESTED, "a:\nb: 1", "line 1 gives 'a' no value"),
    (NESTED, "a:\n  b: 1\na:\n  c: 1", "line 3 has 'a' for the second time"),
    (NESTED, "a: &anchor 1", "line 1 is 'a: &anchor 1'"),
    (NESTED, "a: {b: 1}", "line 1 is 'a: {b: 1}'"),
    (NESTED, "a: |\n  text", "line 1 is 'a: |'"),
    (NESTED, "a: b: c", "line 1 is 'a: b: c'"),
    (NESTED, "a: 'b", 'line 1 is "a: \'b"'),
    (NESTED, "\ta: 1", "line 1 is 'a: 1'"),
    (NESTED, "- a", "line 1 stands under no key"),
    ("flink.properties", "a=1", "'flink.properties' is of no known kind"),
]


@pytest.mark.parametrize(("name", "text", "options"), READ)
def test_what_flink_reads_is_read(name: str, text: str, options: dict[str, str]) -> None:
    assert {line.key: line.value for line in lines_of(ConfigurationFile(name, text))} == options


@pytest.mark.parametrize(("name", "text", "sentence"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_line(name: str, text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        lines_of(ConfigurationFile(name, text))
    assert sentence in str(caught.value)


STREAMING = "spark.sql.streaming."
PROVIDER = f"{STREAMING}stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SHIPPED_SPARK = """\
#
# A license.
#

# Default system properties included when running spark-submit.

# Example:
# spark.master                     spark://master:7077
# spark.eventLog.dir               hdfs://namenode:8021/directory
# spark.executor.extraJavaOptions  -XX:+PrintGCDetails -Dkey=value -Dnumbers="one two three"
"""
"""Of such lines is the template that Spark 3.5 and 4.1 ship."""
ORDINARY = f"""\
spark.master                     spark://master:7077
spark.eventLog.enabled           true
spark.serializer=org.apache.spark.serializer.KryoSerializer
spark.driver.memory: 5g
spark.executor.extraJavaOptions  -XX:+PrintGCDetails -Dkey=value -Dnumbers="one two three"
spark.sql.shuffle.partitions     64
spark.speculation                false
{STREAMING}checkpointLocation    hdfs:///checkpoints
{PROVIDER}                       {ROCKSDB}
{STREAMING}stateStore.rocksdb.changelogCheckpointing.enabled true
{STREAMING}stateStore.stateSchemaCheck TRUE
{STREAMING}minBatchesToRetain    10
"""
NEWER = ("stateStore.commitValidation.enabled", "stateStore.rowChecksum.enabled", "checkpoint.fileChecksum.enabled")
"""Keys of a Spark that this table does not know."""


def checked(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, EffectiveConfiguration]:
    code = cli.execute(["config", "check", *arguments, "--json"])
    return code, msgspec.json.decode(capsys.readouterr().out, type=EffectiveConfiguration)


def odd(configuration: EffectiveConfiguration) -> list[str]:
    return [note.name for note in configuration.notes if note.kind is not NoteKind.INFO]


def sentence(configuration: EffectiveConfiguration, name: str) -> str:
    [found] = [note.sentence for note in configuration.notes if note.name == name]
    return found


@pytest.mark.parametrize("text", [SHIPPED_SPARK, ORDINARY, "", *(f"{STREAMING}{key} true\n" for key in NEWER)])
def test_nothing_is_odd_about_what_is_shipped_or_ordinary(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "spark-defaults.conf").write_text(text)
    code, given = checked([str(file)], capsys)
    assert (code, odd(given)) == (0, [])


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (f"{STREAMING}checkpointLocaton /c", "unknown-option", f"was {STREAMING}checkpointLocation meant?"),
        (f"{STREAMING}checkpointlocation /c", "unknown-option", f"was {STREAMING}checkpointLocation meant?"),
        ("spark.streaming.checkpointLocation /c", "unknown-option", f"was {STREAMING}checkpointLocation meant?"),
        ("spark.sql.shuffle.partition 8", "unknown-option", "was spark.sql.shuffle.partitions meant?"),
        (f"{STREAMING}stateStore.provider x", "unknown-option", f"was {PROVIDER} meant?"),
        (f"{PROVIDER} RocksDBStateStoreProvider", "unknown-state-store", f"was {ROCKSDB} meant?"),
        (f"{PROVIDER} a.b.RocksDbStateStoreProvider", "unknown-state-store", f"was {ROCKSDB} meant?"),
        (f"{STREAMING}stateStore.rocksdb.compactOnCommit true", "rocksdb-without-effect", "not RocksDB's"),
        (f"{STREAMING}minBatchesToRetain 1", "nothing-retained", "nothing to go back to"),
        (f"{STREAMING}checkpointLocation file:///tmp/c", "temporary-checkpoint", "name a folder that stays"),
        (
            f"spark.master yarn\n{STREAMING}checkpointLocation file:/data/c",
            "checkpoint-on-one-machine",
            "another disk on each machine of yarn",
        ),
        ("spark.streaming.stopGracefullyOnShutdown true", "of-dstreams", "repeats its last micro-batch"),
        ("spark.streaming.backpressure.enabled true", "of-dstreams", "maxOffsetsPerTrigger"),
        ("sql.shuffle.partitions 3", "not-of-spark", "begin a key with `spark.`"),
        ("spark.executor.cores 2\nspark.executor.cores 4", "written-twice", "the last line counts"),
        *((f"{risk.key} {risk.value}", "data-at-risk", risk.consequence) for risk in RISKS),
    ],
)
def test_what_is_odd_is_said_once(
    text: str, name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "spark-defaults.conf").write_text(text)
    code, given = checked([str(file)], capsys)
    assert (code, odd(given)) == (ODD, [name])
    assert words in sentence(given, name)


def test_what_may_be_meant_is_told_and_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "spark-defaults.conf").write_text(
        "spark.speculation true\nspark.sql.shuffle.partitions 8\nspark.yarn.executor.memoryOverhead 1g\n"
    )
    code, given = checked([str(file)], capsys)
    assert (code, odd(given)) == (0, [])
    assert "must bear the same row twice" in sentence(given, "speculation")
    assert "keeps its old value of spark.sql.shuffle.partitions" in sentence(given, "fixed-by-checkpoint")
    assert "memoryOverhead is spark.executor.memoryOverhead" in sentence(given, "former-keys")
    assert sentence(given, "checkpoints").startswith("no common folder: each query needs its option checkpointLocation")


def test_options_of_the_command_line_win_over_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    retained = f"{STREAMING}minBatchesToRetain"
    (file := tmp_path / "spark-defaults.conf").write_text(f"{retained} 1\n")
    code, given = checked([str(file), "--conf", f"{retained}=5"], capsys)
    assert (code, odd(given)) == (0, [])
    in_force = {setting.key: setting for setting in given.settings}
    assert (in_force[retained].value, in_force[retained].origin) == ("5", Origin.CODE)
    assert in_force[PROVIDER].origin is Origin.DEFAULT


def test_options_need_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, given = checked(["--conf", f"{STREAMING}checkpointLocaton=/c"], capsys)
    assert (code, odd(given)) == (ODD, ["unknown-option"])
    assert cli.execute(["config", "check"]) == cli.WRONG_USAGE
    assert "name a file, or set an option by --set KEY=VALUE." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{STREAMING}minBatchesToRetain 0", "minBatchesToRetain is '0': use a whole number from 1."),
        (f"{STREAMING}stateStore.stateSchemaCheck off", "stateSchemaCheck is 'off': use false or true."),
        (f"{STREAMING}multipleWatermarkPolicy mean", "multipleWatermarkPolicy is 'mean': use max or min."),
        ("spark.a \\u12", "spark-defaults.conf line 1 has \\u without four hexadecimal digits"),
    ],
)
def test_what_spark_refuses_is_one_sentence(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "spark-defaults.conf").write_text(text)
    assert cli.execute(["config", "check", str(file)]) == cli.WRONG_USAGE
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert words in said.err


def test_what_matters_comes_first_and_fits_ten_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slips = "".join(f"{STREAMING}checkpointLocation{end} /c\n" for end in "abcdefghijkl")
    (file := tmp_path / "spark-defaults.conf").write_text(f"spark.speculation true\n{slips}")
    assert cli.execute(["config", "check", str(file)]) == ODD
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == MOST_LINES
    assert {line.partition(":")[0] for line in lines[:-1]} == {"warning unknown-option"}
    assert lines[-1].startswith("6 more notes, and ")
    assert cli.execute(["config", "check", str(file), "--all"]) == ODD
    assert capsys.readouterr().out.count("warning unknown-option") == 12


def test_several_files_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (spark := tmp_path / "spark-defaults.conf").write_text(ORDINARY)
    (flink := tmp_path / "config.yaml").write_text("execution.checkpointing.intervall: 1 s\n")
    assert cli.execute(["config", "check", str(spark), str(flink)]) == ODD
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line in (str(spark), str(flink))] == [str(spark), str(flink)]
    assert cli.execute(["config", "check", str(spark), str(flink), "--json"]) == cli.WRONG_USAGE
    assert "--json prints one configuration, and 2 files are named: name one." in capsys.readouterr().err


def test_properties_are_read_as_by_java() -> None:
    text = "! a comment\n  a.b = c d \nf:g\nh\ti \\\n   j\nk\\ l=\\u0041\\t.\nm\nn = o=p\n"
    assert lines_of_spark(ConfigurationFile("x.conf", text)) == [
        Line("a.b", "c d", 2),
        Line("f", "g", 3),
        Line("h", "i j", 4),
        Line("k l", "A\t.", 6),
        Line("m", "", 7),
        Line("n", "o=p", 8),
    ]


def test_each_known_key_is_one_of_sparks(spark_keys: frozenset[str]) -> None:
    """Those of the installed PySpark; it may be older than a key."""
    newer = {f"{STREAMING}checkpoint.verifyMetadataExists.enabled"}
    assert spark_keys - newer >= KNOWN - newer


@pytest.fixture(scope="module")
def spark_keys() -> frozenset[str]:
    """The texts in Spark's classes of options that are keys, and those of RocksDB behind their prefix."""
    pyspark = pytest.importorskip("pyspark")
    jars = Path(pyspark.__path__[0]) / "jars"
    found: set[str] = set()
    for jar in (*jars.glob("spark-catalyst_*.jar"), *jars.glob("spark-sql_*.jar")):
        with zipfile.ZipFile(jar) as classes:
            for name in classes.namelist():
                if re.search(r"internal/(?:Static)?SQLConf\$\.class$", name):
                    found |= {key.decode() for key in re.findall(rb"spark\.sql\.streaming\.[\w.]+", classes.read(name))}
                if name.endswith("state/RocksDBConf$.class"):
                    words = re.findall(rb"[a-z]\w+(?:\.enabled)?", classes.read(name))
                    found |= {f"{STREAMING}stateStore.rocksdb.{word.decode()}" for word in words}
    return frozenset(found)
