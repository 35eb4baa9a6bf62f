"""What a module declares, what the doctor shows of it, and options: what cannot be used is refused in one sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.host import installed_spark
from holdfast.fixtures.pipelines.answer.expectation import UNORDERED
from holdfast.fixtures.pipelines.answer.expected_answer import checked, declared_rows, decoder_for
from holdfast.fixtures.pipelines.declaration import Declaration, declaration_of
from holdfast.fixtures.pipelines.input.feeder import FedRecords, fed_by_files, line_of
from holdfast.fixtures.systems.structured_streaming import options
from holdfast.fixtures.systems.structured_streaming.driver import imported, innermost, missing_package, sentence_of
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import with_markers
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, Guarantee
from holdfast.harness.model.events import RowsVisible
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import NO_PARTITION, IdentityColumns
from holdfast.harness.spi.system import Described, OptionUse
from holdfast.suites.selfcheck.structured_streaming import pipelines

BUILD = "def build(spark, endpoints): pass\n"
ORDERS = BUILD + "SCHEMA = 'order_id string, at timestamp'\n"
GENERATE = "def generate(number, partition, offset, random): return {'order_id': f'{number}-{random.randrange(9)}'}\n"
INVARIANT = "INVARIANTS = {'no amount is below zero': lambda rows: True}\n"
TIMED = f"{ORDERS}{GENERATE}IDENTITY = 'order_id'\nTIME = 'at'\n"
INPUTS = with_markers(Synthetic().generate({"records": 10, "preloaded_percent": 20}, 1), FORWARD)


def declared(folder: Path, text: str) -> Declaration:
    path = folder / "pipeline.py"
    path.write_text(text)
    return declaration_of(str(path))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (ORDERS, "and there are no records of its own: write generate"),
        (f"{BUILD}{GENERATE}IDENTITY = 'order_id'", "SCHEMA of pipeline {} is missing"),
        (f"{ORDERS}generate = 5", "generate of pipeline {} is 5: use a function."),
        (f"{ORDERS}def generate(*any): return 1 / 0", "raises ZeroDivisionError: division by zero."),
        (f"{ORDERS}def generate(*any): return []", "returns []: return a dict by column."),
        (f"{ORDERS}{GENERATE}", "nothing says what is expected of them: write expected(inputs) or batch"),
        (f"{ORDERS}{GENERATE}IDENTITY = 'id'", "IDENTITY of pipeline {} is 'id': use one of the columns order_id."),
        (f"{ORDERS}{GENERATE}TIME = 'when'", "TIME of pipeline {} is 'when', and SCHEMA has no such column"),
        (f"{ORDERS}{GENERATE}SAMPLE = 'a.csv'", "SAMPLE and generate of pipeline {} are both given"),
        (f"{BUILD}SAMPLE = 'a.csv'", "cannot be read: use a file that ends in .parquet, .avro"),
        (f"{BUILD}LATE = {{}}", "LATE of pipeline {} needs a TIME that the harness fills in"),
        (f"{ORDERS}{GENERATE}IDENTITY = 'order_id'\nLATE = {{}}", "LATE of pipeline {} needs a TIME"),
        (f"{TIMED}LATE = {{'share': 0.1}}", "missing required field `at_most_ms`"),
        (f"{TIMED}LATE = {{'share': 0, 'at_most_ms': 1}}", "share is above 0 and at most 1, at_most_ms at least 1."),
        (f"{BUILD}UNIQUE = 'key'", "UNIQUE of pipeline {} is 'key': use a list of columns."),
        (f"{BUILD}def unique(inputs): pass", "has no columns to go with: name them in UNIQUE."),
        (f"{BUILD}UNIQUE = ['key']\ndef batch(spark, inputs): pass", "has UNIQUE and batch: keep one of them."),
        (f"{BUILD}COMPARE = 'all'", "COMPARE of pipeline {} is 'all': use one of final, window."),
        (f"{ORDERS}{GENERATE}INVARIANTS = {{}}", "or IDENTITY, or write INVARIANTS alone."),
        (f"{ORDERS}{GENERATE}{INVARIANT}CONTRACT = 'records'", "or IDENTITY, or write INVARIANTS alone."),
        (
            f"{ORDERS}{GENERATE}{INVARIANT}GUARANTEE = 'at-most-once'",
            "and nothing tells one row from another: name the",
        ),
        (
            f"{ORDERS}{GENERATE}{INVARIANT}GUARANTEE = 'exactly-once'",
            "and nothing tells one row from another: name the",
        ),
        (f"{BUILD}GUARANTEE = 'at-most-once'", "and nothing tells one row from another: name the columns UNIQUE or"),
        (f"{BUILD}CONTRACT = 'fold'\nGUARANTEE = 'at-most-once'", "CONTRACT is 'fold', whose rows are sums: claim"),
        (f"{BUILD}INVARIANTS = [1]", "INVARIANTS of pipeline {} is [1]: use a dict of functions by name."),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.$") as refused:
        declared(tmp_path, text)
    assert sentence.format(repr(str(tmp_path / "pipeline.py"))) in str(refused.value)


def test_an_identity_alone_is_judged_as_at_least_once(tmp_path: Path) -> None:
    found = declared(tmp_path, f"{ORDERS}{GENERATE}IDENTITY = 'order_id'\nTIME = 'at'")
    assert found.expectation.unique == ("order_id",)
    assert found.expectation.output == AT_LEAST_ONCE


@pytest.mark.parametrize(
    ("text", "claimed", "supplied"),
    [
        (INVARIANT, frozenset(), "invariant 'no amount is below zero'"),
        # What stands beside an identity or a model adds to it.
        (f"{INVARIANT}IDENTITY = 'order_id'", AT_LEAST_ONCE, "the unique key (order_id)"),
        (f"{INVARIANT}UNIQUE = ['order_id']", UNORDERED, "the unique key (order_id)"),
        ("UNIQUE = ['order_id']\nGUARANTEE = 'at-most-once'", AT_MOST_ONCE, "the unique key (order_id)"),
        ("IDENTITY = 'order_id'\nGUARANTEE = 'at-most-once'", AT_MOST_ONCE, "the unique key (order_id)"),
        ("def expected(inputs): return []\nGUARANTEE = 'at-most-once'", AT_MOST_ONCE, "the expected rows"),
    ],
)
def test_what_records_of_its_own_are_judged_by(
    text: str, claimed: frozenset[Guarantee], supplied: str, tmp_path: Path
) -> None:
    expectation = declared(tmp_path, f"{ORDERS}{GENERATE}{text}").expectation
    assert expectation.output == claimed
    assert expectation.supplied[0] == supplied
    assert bool(expectation.invariants) is (INVARIANT in text)


def test_rows_that_invariants_alone_judge_may_have_any_columns(tmp_path: Path) -> None:
    found = declared(tmp_path, f"{ORDERS}{GENERATE}{INVARIANT}")
    assert declared_rows(found.expectation, FedRecords(INPUTS, found.incoming, 1)) is None
    decoder = decoder_for(found.expectation, 2)
    assert decoder.columns == ()
    rows = decoder.rows(pa.table({"amount": [1.5, 1.5, -1.0]}))
    assert isinstance(rows, IdentityColumns)
    assert [(row.partition, row.offset) for row in rows] == [(NO_PARTITION, 0), (NO_PARTITION, 1), (NO_PARTITION, 2)]
    assert len(decoder.none()) == 0


def test_rows_that_something_is_claimed_of_have_the_columns_of_their_contract(tmp_path: Path) -> None:
    assert decoder_for(declared(tmp_path, f"{BUILD}{INVARIANT}").expectation, 2).columns == ("partition", "offset")


def test_generated_records_come_from_the_seed_with_an_event_time_and_markers_far_ahead(tmp_path: Path) -> None:
    incoming = declared(tmp_path, f"{ORDERS}{GENERATE}IDENTITY = 'order_id'\nTIME = 'at'").incoming
    records = FedRecords(INPUTS, incoming, 1).all()
    assert records == FedRecords(INPUTS, incoming, 1).all() != FedRecords(INPUTS, incoming, 2).all()
    first, *_, marker = records
    assert first["at"] == datetime(2024, 1, 1, tzinfo=UTC)
    assert (marker["at"] - first["at"]).days == 30
    assert len(FedRecords(INPUTS, incoming, 1).all(markers=False)) == len(records) - 2


def test_records_of_its_own_are_fed_as_lines_of_json(tmp_path: Path) -> None:
    incoming = declared(tmp_path, f"{ORDERS}{GENERATE}IDENTITY = 'order_id'\nTIME = 'at'").incoming
    records = FedRecords(INPUTS, incoming, 1)
    feeder, _ = fed_by_files(records, tmp_path / "input")
    feeder.begin(0)
    feeder.tend(0)
    feeder.feed_markers()
    feeder.tend(1_000)
    lines = [line for path in sorted((tmp_path / "input").iterdir()) for line in path.read_bytes().splitlines()]
    assert sorted(lines) == sorted(map(line_of, records.all()))
    assert json.loads(lines[0])["at"] == "2024-01-01T00:00:00Z"


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_sample_is_scaled_up_with_an_identity_of_its_own_for_each_record(suffix: str, tmp_path: Path) -> None:
    rows = [{"order_id": "a", "amount": 1.5}, {"order_id": "b", "amount": 2.5}]
    sample = tmp_path / f"orders{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), sample)
    else:
        sample.write_text("\n".join(map(json.dumps, rows)))
    incoming = declared(tmp_path, f"{BUILD}SAMPLE = {sample.name!r}\nIDENTITY = 'order_id'").incoming
    assert incoming.schema == "`order_id` string, `amount` double"
    records = FedRecords(INPUTS, incoming, 1).all()
    assert records[2] == {"order_id": "a-2", "amount": 1.5}
    assert len({record["order_id"] for record in records}) == INPUTS.total_records


def test_a_sample_of_avro_keeps_its_types(tmp_path: Path) -> None:
    fastavro = pytest.importorskip("fastavro")
    money = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    line = {"type": "record", "name": "Line", "fields": [{"name": "count", "type": "int"}]}
    fields = [
        {"name": "order_id", "type": "string"},
        {"name": "amount", "type": money},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "lines", "type": {"type": "array", "items": line}},
        {"name": "first", "type": "Line"},
        {"name": "tags", "type": {"type": "map", "values": "double"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW"]}},
    ]
    row = {
        "order_id": "a", "amount": Decimal("1.50"), "at": datetime(2024, 1, 1, tzinfo=UTC), "lines": [{"count": 2}],
        "first": {"count": 1}, "tags": {"x": 0.5}, "kind": "NEW",
    }  # fmt: skip
    with (tmp_path / "orders.avro").open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "Order", "fields": fields}, [row])
    incoming = declared(tmp_path, f"{BUILD}SAMPLE = 'orders.avro'\nIDENTITY = 'order_id'").incoming
    assert incoming.schema == (
        "`order_id` string, `amount` decimal(10,2), `at` timestamp, `lines` array<struct<`count`:int>>, "
        "`first` struct<`count`:int>, `tags` map<string,double>, `kind` string"
    )
    first, *_ = FedRecords(INPUTS, incoming, 1).all()
    assert first == {**row, "order_id": "a-0"}
    assert json.loads(line_of(first))["amount"] == 1.5


def test_a_sample_of_avro_that_cannot_be_used_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fastavro = pytest.importorskip("fastavro")
    text = f"{BUILD}SAMPLE = 'orders.avro'\nIDENTITY = 'order_id'"
    for schema, rows, sentence in (
        ({"type": "record", "name": "a", "fields": [{"name": "b", "type": ["int", "string"]}]}, [], "has no such type"),
        ("long", [1], "have no columns"),
    ):
        with (tmp_path / "orders.avro").open("wb") as file:
            fastavro.writer(file, schema, rows)
        with pytest.raises(ValueError, match=sentence):
            declared(tmp_path, text)
    (tmp_path / "orders.avro").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="cannot be read"):
        declared(tmp_path, text)
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(ValueError, match=r"'fastavro' is not installed: run pip install 'holdfast-chaos\[avro\]'\."):
        declared(tmp_path, text)


def test_a_share_of_records_is_late_within_its_bound(tmp_path: Path) -> None:
    many = with_markers(Synthetic().generate({"records": 4_000, "preloaded_percent": 20}, 1), FORWARD)
    text = f"{TIMED}LATE = {{'share': 0.2, 'at_most_ms': 500}}"
    late = FedRecords(many, declared(tmp_path, text).incoming, 1)
    even = FedRecords(many, declared(tmp_path, TIMED).incoming, 1)
    behind = np.concatenate([even.times_us(n, 0, 2_001) - late.times_us(n, 0, 2_001) for n in (0, 1)])
    assert 0.17 < np.count_nonzero(behind) / len(behind) < 0.23
    assert behind.min() == 0
    assert 450_000 < behind.max() <= 500_000
    assert np.median(behind[behind > 0]) < 150_000
    assert behind[2_000] == behind[4_001] == 0, "a marker is late"
    assert late.all() == FedRecords(many, late.incoming, 1).all() != FedRecords(many, late.incoming, 2).all()


def test_a_record_may_lack_columns_that_its_schema_has(tmp_path: Path) -> None:
    generate = "def generate(number, *any): return {'order_id': str(number), **({'at': None} if number > 5 else {})}\n"
    records = FedRecords(INPUTS, declared(tmp_path, f"{ORDERS}{generate}IDENTITY = 'order_id'").incoming, 1).all()
    assert [set(record) for record in records[:7:6]] == [{"order_id"}, {"order_id", "at"}]


def test_a_unique_key_is_due_once_for_each_of_the_input(tmp_path: Path) -> None:
    generate = "def generate(number, partition, offset, random): return {'order_id': str(number // 2)}\n"
    found = declared(tmp_path, f"{ORDERS}{generate}UNIQUE = ['order_id']")
    rows = declared_rows(found.expectation, FedRecords(INPUTS, found.incoming, 1))
    assert rows is not None
    assert rows.due().lengths() == (6,)


def test_a_function_that_raises_makes_the_run_say_nothing(tmp_path: Path) -> None:
    found = declared(tmp_path, f"{BUILD}def expected(inputs): return [1 / 0]")
    with pytest.raises(OSError, match=r"expected\(inputs\) raises ZeroDivisionError: division by zero\."):
        declared_rows(found.expectation, FedRecords(INPUTS, found.incoming, 1))


def test_an_invariant_is_evaluated_at_each_look_over_what_is_visible_then() -> None:
    looks = [(RowsVisible(name=f"unit-{n}", poll=n, records=1, checksum=0), [{"sum": 1}] * n) for n in (1, 2)]
    events = list(
        checked({"one row": lambda rows: len(rows) == 1, "named": lambda rows: "two" * (len(rows) > 1)}, looks)
    )
    assert [(each.name, each.poll, each.problem) for each in events] == [
        ("one row", 1, ""), ("named", 1, ""), ("one row", 2, "it does not hold"), ("named", 2, "two"),
    ]  # fmt: skip
    with pytest.raises(OSError, match="returns 5: return True, or a text"):
        list(checked({"number": lambda rows: 5}, looks))  # type: ignore[dict-item, return-value]


def test_what_the_environment_lacks_is_read_off_an_error() -> None:
    assert missing_package("ModuleNotFoundError: No module named 'google'").startswith("package 'protobuf' is not")
    assert missing_package("[PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed; however, it was not found.")
    assert missing_package("ValueError: No such order") == ""
    not_found = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: {}. Make sure the provider name is correct."
    assert missing_package(not_found.format("delta")).startswith("the jars of delta: our image has them")
    assert missing_package(not_found.format("detla")) == ""
    catalog = "java.lang.ClassNotFoundException: org.apache.iceberg.spark.SparkCatalog"
    assert missing_package(catalog).startswith("the jars of iceberg: our image has them")


def traceback_of(*frames: str, raised: str) -> str:
    files = "".join(f'  File "{frame}", line 1, in call\n    call()\n' for frame in frames)
    return (
        f"failed: Traceback (most recent call last):\n{files}{raised}\n\n\tat org.apache.spark.Runner(Runner.scala:1)\n"
    )


PYSPARK, PANDAS = "/site-packages/pyspark/sql/pandas/serializers.py", "/site-packages/pandas/core/frame.py"
SLICE = "TypeError: 'float' object cannot be interpreted as an integer"


@pytest.mark.parametrize(
    ("frames", "raised", "said"),
    [
        ((PYSPARK, "pyarrow/table.pxi"), SLICE, f"package 'pyarrow' 26.0.1 does not fit PySpark 4.0.0 ({SLICE})"),
        (("pyarrow/table.pxi",), SLICE, f"package 'pyarrow' 26.0.1 does not fit PySpark 4.0.0 ({SLICE})"),
        ((PYSPARK,), "AttributeError: module 'pyarrow' has no attribute 'feather'", "package 'pyarrow' 26.0.1 does"),
        ((PYSPARK, PANDAS), "AttributeError: 'DataFrame' object has no attribute 'items_'", "package 'pandas' 2 does"),
        # What the pipeline calls, it may call wrongly; and data that does not fit is no library that does not.
        ((PYSPARK, "/team/orders.py", "pyarrow/table.pxi"), SLICE, ""),
        ((PYSPARK, "/team/orders.py"), "AttributeError: module 'pandas' has no attribute 'Tabel'", ""),
        ((PYSPARK, "/team/orders.py"), SLICE, ""),
        (("/team/orders.py", "pyarrow/table.pxi"), SLICE, ""),
        ((PYSPARK, "pyarrow/array.pxi"), "pyarrow.lib.ArrowInvalid: Could not convert 'a'", ""),
        ((PYSPARK,), "TypeError: first() takes 2 positional arguments", ""),
    ],
)
def test_a_library_that_does_not_fit_is_named(frames: tuple[str, ...], raised: str, said: str) -> None:
    versions = {"pyarrow": "26.0.1", "pandas": "2", "pyspark": "4.0.0"}
    found = missing_package(traceback_of(*frames, raised=raised), lambda package: versions.get(package, ""))
    assert found.startswith(said)
    assert bool(found) is bool(said)


def test_the_worker_of_a_state_that_cannot_start_lacks_protobuf() -> None:
    crashed = "TransformWithStateInPandas driver worker exited unexpectedly (crashed)"
    assert missing_package(crashed, lambda package: "").startswith("package 'protobuf' is not installed")
    assert missing_package(crashed, lambda package: "7") == ""


def test_what_a_pipeline_imports_from_its_folder_travels_with_it(tmp_path: Path) -> None:
    (tmp_path / "rates_of_shop.py").write_text("RATE = 2\n")
    (tmp_path / "package_of_shop").mkdir()
    (tmp_path / "package_of_shop" / "__init__.py").write_text("")
    (tmp_path / "unused_of_shop.py").write_text("")
    declared(tmp_path, f"import rates_of_shop, package_of_shop\n{BUILD}")
    found = {path.name for path in imported(tmp_path / "pipeline.py")}
    assert found == {"rates_of_shop.py", "package_of_shop"}


def test_an_error_of_python_is_one_line_of_many() -> None:
    text = """[FOREACH] failed. Return Message: Traceback (most recent call last):
  File "worker.py", line 1, in main
    raise KeyError("a")
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "orders.py", line 7, in write
    rate = rates[currency]
           ~~~~~^^^^^^^^^^
orders.NoRate: there is no exchange rate for EUR

\tat org.apache.spark.Runner.run(Runner.scala:1)
"""
    assert sentence_of(ValueError(text)) == "ValueError: orders.NoRate: there is no exchange rate for EUR"
    assert innermost("a path is missing\n  File x") == ""
    assert sentence_of(ValueError("a path is missing")) == "ValueError: a path is missing"
    java = "An error occurred while calling o1.start.\n: java.io.IOException: no disk\n\tat a.B.c(B.java:1)\n\tat d.E"
    assert sentence_of(OSError(java)) == "OSError: java.io.IOException: no disk"


@pytest.fixture
def described() -> Described:
    system = registry.system(f"spark+{pipelines.__name__}.never_written")
    assert isinstance(system, Described)
    return system


def test_the_claim(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_spark, "archived", lambda *_: True)
    assert described.described()[:2] == [("claims", "exactly-once"), ("Spark", version("pyspark"))]


def test_the_command_that_archives_classes_where_they_are_not(
    described: Described, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_spark, "archived", lambda *_: False)
    name, words = described.described()[-1]
    assert name == "start"
    assert words.endswith(installed_spark.COMMAND)


PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def plan(given: Mapping[str, str] = {}, job: Job = KEYED_SUM, parallelism: int = 2) -> Plan:
    workload = WorkloadSpec("synthetic")
    return Plan(system="spark", job=job, topology=Topology(parallelism), workload=workload, options=dict(given))


@pytest.mark.parametrize(
    ("key", "value", "use"),
    [
        ("execution.checkpointing.interval", "500 ms", OptionUse.EQUIVALENT),
        ("execution.checkpointing.mode", "EXACTLY_ONCE", OptionUse.EQUIVALENT),
        ("execution.checkpointing.mode", "AT_LEAST_ONCE", OptionUse.UNSUPPORTED),
        ("execution.checkpointing.num-retained", "3", OptionUse.EQUIVALENT),
        ("execution.checkpointing.incremental", "true", OptionUse.EQUIVALENT),
        ("state.backend.type", "rocksdb", OptionUse.EQUIVALENT),
        (PROVIDER, "some.Provider", OptionUse.APPLIED),
        ("restart-strategy.type", "fixed-delay", OptionUse.UNSUPPORTED),
        ("execution.checkpointing.timeout", "10 s", OptionUse.UNSUPPORTED),
    ],
)
def test_every_option_is_accounted_for(key: str, value: str, use: OptionUse) -> None:
    [account] = StructuredStreaming().account(plan({key: value}))
    assert (account.key, account.use) == (key, use)
    assert bool(account.equivalent) is (use is OptionUse.EQUIVALENT)


def test_a_stateless_pipeline_has_no_state_backend() -> None:
    [account] = StructuredStreaming().account(plan({"state.backend.type": "rocksdb"}, FORWARD))
    assert account.use is OptionUse.UNSUPPORTED


def test_equivalents_become_keys_of_spark() -> None:
    given = {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.num-retained": "7",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }
    assert options.configuration(given) == {
        PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.minBatchesToRetain": "7",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"state.backend.type": "forst"}, "state.backend.type is 'forst': use one of hashmap, rocksdb."),
        ({"execution.checkpointing.num-retained": "0"}, "num-retained is '0': use a whole number from 1."),
        ({"execution.checkpointing.incremental": "yes"}, "incremental is 'yes': use true or false."),
        ({"execution.checkpointing.interval": "soon"}, "'soon' is not a duration"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        StructuredStreaming().account(plan(given))


def test_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="parallelism is 3: a session has 2 workers, use 2"):
        StructuredStreaming().account(plan(parallelism=3))


def test_the_file_sink_promises_no_order() -> None:
    system = StructuredStreaming()
    assert Guarantee.KEY_ORDER in system.claims(plan()).output
    assert system.claims(plan(job=FORWARD)).output == {Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE}


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no variant 'appends': known are appends-in-foreach-batch"):
        registry.system("spark+appends")
