"""A service that was named and is not there: refused once, before anything runs, and nothing remains."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.site.services import ACCESS_KEY, SECRET_KEY
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.suites.selfcheck.soon import ends_within

for client in ("testcontainers", "confluent_kafka", "minio", "toxiproxy"):
    pytest.importorskip(client)

SECONDS = 15.0
"""A refusal comes within these."""
OFFER = "holdfast sweep"
"""In the line that offers to remove what others left: no part of a refusal."""


def refusals(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of standard error, but for that offer."""
    return [line for line in capsys.readouterr().err.splitlines() if OFFER not in line]


@pytest.fixture
def silent() -> Iterator[str]:
    """An address where somebody listens who never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ACCESS_KEY, SECRET_KEY):
        monkeypatch.setenv(name, "anything")


@pytest.mark.parametrize(
    ("option", "scheme", "says"),
    [
        ("--spark-master", "spark://", "but no master answers there"),
        ("--kafka-bootstrap", "", "but no broker answers there"),
        ("--s3-endpoint", "http://", "but it does not answer"),
    ],
)
@pytest.mark.parametrize(("command", "where"), [("certify", "closed"), ("certify", "silent"), ("run", "closed")])
@pytest.mark.share(4)
def test_it_is_refused_at_once_in_one_sentence(
    command: str,
    option: str,
    scheme: str,
    says: str,
    where: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    subject = "reference"
    if command == "run":
        subject = str(tmp_path / "plan.json")
        write_plan(Path(subject), draw_plan(3))
    before = set(tmp_path.iterdir())
    address = f"{scheme}{request.getfixturevalue(where)}"
    with ends_within(SECONDS):
        assert cli.execute([command, subject, option, address, "--out", str(tmp_path / "out")]) == cli.WRONG_USAGE
    (line,) = refusals(capsys)
    assert line.startswith(f"holdfast: {option} is '{address}', {says}")
    assert set(tmp_path.iterdir()) == before


def test_a_run_is_not_read_for_a_cluster_that_is_not_there(closed: str, capsys: pytest.CaptureFixture[str]) -> None:
    master = f"spark://{closed}"
    with ends_within(SECONDS):
        assert cli.execute(["judge", "s3a://nowhere/run", "--spark-master", master]) == cli.WRONG_USAGE
    (line,) = refusals(capsys)
    assert line.startswith(f"holdfast: --spark-master is '{master}', but no master answers there")


def test_a_name_that_no_host_bears_is_refused_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["certify", "reference", "--spark-master", "spark://nowhere.invalid:7077", "--out", str(tmp_path / "o")]
    assert cli.execute(arguments) == cli.WRONG_USAGE
    assert "no master answers there" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
