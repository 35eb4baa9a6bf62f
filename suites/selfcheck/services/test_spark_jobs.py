"""Why a job of Spark failed, in the one line of many that says so."""

from __future__ import annotations

import pytest

from holdfast.fixtures.services.spark_jobs import sentence_of

ABORTED = "Job aborted due to stage failure: ResultStage 0 has failed the maximum allowable number of times: 1.\n"


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (
            ABORTED + 'java.io.IOException: Cannot run program "python9": error=2\n\tat java.base/ProcessBuilder.start',
            'java.io.IOException: Cannot run program "python9": error=2',
        ),
        (
            ABORTED
            + "org.apache.spark.SparkException: \nError from python worker:\n  python3: No module named pyspark\n"
            "PYTHONPATH was:\n  /opt/spark\norg.apache.spark.SparkException: EOFException",
            "python3: No module named pyspark",
        ),
        (
            ABORTED + "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File x\n"
            "pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker is 3.9.\n\n\tat org",
            "pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker is 3.9.",
        ),
        ("Job was cancelled", "Job was cancelled"),
        ("", "no reason given"),
    ],
    ids=["no-program", "no-module", "traceback", "one-line", "nothing"],
)
def test_the_line_that_says_most(reason: str, sentence: str) -> None:
    assert sentence_of(reason) == sentence
