"""The first error of a job, read out of logs that were recorded of Spark 4.0; only their stacks are shorter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.fixtures.systems.structured_streaming.failures import Failure, failures, first_failure

RECORDED = {
    name: "\n".join(lines)
    for name, lines in json.loads(Path(__file__).with_name("recorded_logs.json").read_text()).items()
}
IN_CONVERT = Failure(
    "Python worker of executor 0",
    "ValueError: no rate for order 0",
    "/srv/spark/work/app-20261201123613-0000/0/orders.py",
    14,
    "convert",
    'raise ValueError(f"no rate for order {value}") from error',
)


def first(name: str, code: str = "/srv/team/orders.py") -> Failure:
    found = first_failure({"driver": RECORDED[name]}, code)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["udf_in_a_file_sink", "udf_in_foreach_batch"])
def test_an_error_of_a_python_worker_has_its_place_in_the_function_that_it_ran(name: str) -> None:
    assert first(name) == IN_CONVERT
    assert first(name).own


def test_an_error_of_a_worker_is_found_within_that_of_the_function_that_waited_for_it() -> None:
    *_, last = failures(RECORDED["udf_in_foreach_batch"], "driver", "/srv/team/orders.py")
    assert (last.origin, last.line, last.function) == ("Python worker", 14, "convert")


def test_an_error_of_foreach_batch_has_its_place() -> None:
    assert str(first("foreach_batch")) == (
        "ValueError: there is no exchange rate for EUR (orders.py, line 34, in write: "
        'raise ValueError("there is no exchange rate for EUR"); in the driver)'
    )


def test_an_error_of_java_is_named_by_its_last_cause_with_the_line_that_met_it() -> None:
    assert str(first("state_of_an_unread_batch", "/srv/team/unread_batch_wrong.py")) == (
        "[CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS] FileNotFoundException: File "
        "file:/srv/run/checkpoint/state/0/1/3.delta does not exist (unread_batch_wrong.py, line 37, in write: "
        "put(batch.collect()); in the driver)"
    )


def test_an_error_of_the_analyser_has_its_place() -> None:
    found = first("unresolved_column")
    assert found.error.startswith("AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] ")
    assert (found.line, found.source) == (46, 'batch.select("amount").collect()')


def test_what_no_code_of_the_team_met_has_no_place() -> None:
    found = first("cast_in_spark")
    assert found.error.startswith("SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'x0'")
    assert (found.file, str(found)[-15:]) == ("", "(in the driver)")


CHAINED = """\
26/12/01 12:36:47 ERROR Executor: Exception in task 0.0 in stage 2.0 (TID 9)
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/pyspark/worker.py", line 2100, in main
    process()
  File "/srv/team/orders.py", line 7, in price
    return rates["EUR"] * value
           ~~~~~^^^^^^^
KeyError: 'EUR'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/team/orders.py", line 14, in convert
    raise ValueError("no rate") from error
ValueError: no rate
"""


def test_of_errors_that_chain_the_first_counts() -> None:
    """An executor tells in its own log what the driver never heard of."""
    found = first_failure({"driver": "", "executor 1": CHAINED}, "/srv/team/orders.py")
    assert found is not None
    assert str(found) == (
        "KeyError: 'EUR' (orders.py, line 7, in price: "
        'return rates["EUR"] * value; in the Python worker of executor 1)'
    )


LOST = """\
26/12/01 12:40:00 ERROR ClientServer: Could not reach the Java side
Traceback (most recent call last):
  File "/srv/team/orders.py", line 27, in write
    batch.collect()
  File "/usr/lib/python3/site-packages/py4j/java_gateway.py", line 1362, in __call__
    return_value = get_return_value(
py4j.protocol.Py4JNetworkError: Answer from Java side is empty
"""
RETRIED = """\
26/12/01 12:40:00 WARN TaskSetManager: Lost task 0.0 in stage 7.0 (TID 12) (127.0.0.1 executor 0): ExecutorLostFailure
26/12/01 12:40:01 ERROR FileFormatWriter: Aborting job 45dc4d30.
java.lang.InterruptedException
\tat java.base/java.lang.Object.wait(Native Method)
"""


def test_who_lost_a_process_is_not_to_blame() -> None:
    found = first_failure({"driver": LOST}, "/srv/team/orders.py")
    assert found is not None
    assert not found.own
    both = first_failure({"driver": LOST + RECORDED["foreach_batch"]}, "/srv/team/orders.py")
    assert both is not None
    assert both.error == "ValueError: there is no exchange rate for EUR"


def test_what_ends_no_query_and_meets_no_code_of_the_team_is_no_failure() -> None:
    assert first_failure({"driver": RETRIED}, "/srv/team/orders.py") is None


IN_BUILD = """\
Traceback (most recent call last):
  File "/opt/holdfast/fixtures/systems/structured_streaming/driver.py", line 190, in start
    query = build(self._session(command), command.endpoints)
  File "/srv/team/orders.py", line 20, in build
    return endpoints.start(rows.writeStream.outputMode("complete"))
  File "/opt/holdfast/fixtures/systems/structured_streaming/endpoints.py", line 88, in start
    return writer.option("checkpointLocation", self.checkpoint).start()
pyspark.errors.exceptions.captured.AnalysisException: [STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] Invalid output mode
\tat org.apache.spark.sql.errors.QueryCompilationErrors$.unsupportedOutputMode(QueryCompilationErrors.scala:1)
"""


def test_an_error_in_front_of_the_start_has_its_place_in_the_module_and_not_in_ours() -> None:
    found = first_failure({"driver": IN_BUILD}, "/srv/team/orders.py")
    assert found is not None
    assert (found.line, found.function) == (20, "build")
    assert found.error == "AnalysisException: [STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] Invalid output mode"


def test_code_of_a_module_that_is_installed_is_the_teams() -> None:
    text = RECORDED["foreach_batch"].replace("/srv/team/orders.py", "/usr/lib/python3/site-packages/shop/orders.py")
    found = first_failure({"driver": text}, "shop.orders")
    assert found is not None
    assert found.line == 34
    other = first_failure({"driver": text}, "shop.refunds")
    assert other is not None
    assert not other.file
