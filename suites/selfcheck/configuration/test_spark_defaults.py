"""`holdfast config check` of spark-defaults.conf and --conf: what is odd is told once, ordinary settings are not."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.systems.structured_streaming.effective_configuration import Line, lines_of
from holdfast.fixtures.systems.structured_streaming.known_keys import KNOWN, RISKS
from holdfast.harness import cli
from holdfast.harness.commands.configuration import MOST_LINES, ODD
from holdfast.harness.model.configuration import ConfigurationFile, EffectiveConfiguration, NoteKind, Origin

STREAMING = "spark.sql.streaming."
PROVIDER = f"{STREAMING}stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SHIPPED = """\
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


@pytest.mark.parametrize("text", [SHIPPED, ORDINARY, "", *(f"{STREAMING}{key} true\n" for key in NEWER)])
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
    assert lines_of(ConfigurationFile("x.conf", text)) == [
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
