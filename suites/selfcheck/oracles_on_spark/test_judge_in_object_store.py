"""`holdfast judge` of a run in an object store says what it says of the folder that was put there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.stored_run import store_run
from holdfast.harness.engine.executor.judge import outcome_of
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.services import ACCESS_KEY, SECRET_KEY
from holdfast.harness.model.case import Tier
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.oracles_on_spark.test_stored_output import finished, verdicts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from holdfast.fixtures.services.object_store import GivenObjectStore, ObjectStore

    Store = ObjectStore | GivenObjectStore

pytestmark = [
    pytest.mark.tier("spark"),
    pytest.mark.tier("containers"),
    pytest.mark.xdist_group("judging-session"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
BUCKET, FOLDER = "holdfast-selfcheck-judge", "nightly/run-1"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    from holdfast.fixtures.services.stack import Stack

    with closing(Stack()) as stack:
        store = stack.object_store
        store.client().make_bucket(BUCKET)
        yield store


@pytest.fixture
def keys(store: Store) -> dict[str, str]:
    return {ACCESS_KEY: store.keys.access_key, SECRET_KEY: store.keys.secret_key}


def judged(run: str, endpoint: str, keys: Mapping[str, str]) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "holdfast.harness.cli", "judge", run, "--s3-endpoint", endpoint]
    environment = {**os.environ, **keys}  # noqa: TID251 - keys are given so
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("name", "code"), [("clean", 0), ("twice", 1)])
def test_the_verdict_is_that_of_the_folder(
    name: str,
    code: int,
    store: Store,
    keys: dict[str, str],
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    history = finished(name, ordered=False)
    found = verdicts(history)
    run = store_run(tmp_path / "run", Run(Tier.SIM, history, found, *outcome_of(history, found)))
    for path in (path for path in run.rglob("*") if path.is_file()):
        store.client().fput_object(BUCKET, f"{FOLDER}/{path.relative_to(run)}", str(path))
    monkeypatch.setattr(services, "_site", Site())  # A command settles it for the whole process.
    for variable, value in keys.items():
        monkeypatch.setenv(variable, value)
    printed = []
    for asked in ([f"s3a://{BUCKET}/{FOLDER}", "--s3-endpoint", store.external], [str(run)]):
        assert cli.execute(["judge", *asked]) == code
        printed.append(capsys.readouterr())
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("url", "changed", "sentence"),
    [
        (f"s3a://{BUCKET}-2/run", {}, "NO_SUCH_BUCKET"),
        (f"s3a://{BUCKET}/none", {}, "does not exist"),
        (f"s3a://{BUCKET}/none", {SECRET_KEY: "not-its-key"}, "SIGNATURE_DOES_NOT_MATCH"),
        (f"gs://{BUCKET}/run", {}, "begins with s3a://"),
    ],
    ids=["bucket", "folder", "key", "scheme"],
)
def test_what_cannot_be_read_is_said_in_one_sentence(
    url: str, changed: dict[str, str], sentence: str, store: Store, keys: dict[str, str]
) -> None:
    code, output, error = judged(url, store.external, {**keys, **changed})
    assert (code, output, error.count("\n")) == (3, "", 1)
    assert url in error
    assert sentence in error
    assert not any(secret in error for secret in {**keys, **changed}.values())
