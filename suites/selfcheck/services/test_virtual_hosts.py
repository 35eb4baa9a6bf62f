"""Stores that find the bucket in the host name: the harness, its reader and Spark ask that host, and no other.

Names resolve in a mount namespace with a file of hosts of its own, so nothing of this machine is changed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.services.processes.installation import missing, spark_connectors, wrong_spark
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Site, StoreLocation
from holdfast.suites.selfcheck.services import run_there
from holdfast.suites.selfcheck.services.run_there import Judged

pytest.importorskip("minio")

from holdfast.fixtures.services.object_store import ObjectStore, OwnObjectStore
from holdfast.suites.selfcheck.marks import unless

BUCKET, DOMAIN = "team-data", "store.test"
NAMESPACE = ("unshare", "--map-root-user", "--mount")
NO_SPARK = wrong_spark() or missing(KAFKA, OBJECT_STORE, spark_connectors())
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    unless(NO_SPARK),
    pytest.mark.skipif(
        subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0,
        reason="namespaces are not allowed here",
    ),
]


@pytest.fixture
def versity() -> Iterator[OwnObjectStore]:
    from holdfast.fixtures.services.ports import LOOPBACK, free_port
    from holdfast.fixtures.services.processes.own_process import Session
    from holdfast.fixtures.services.processes.stack import StoreProcess

    with closing(Session()) as session:
        store = StoreProcess(session, port := free_port(), f"{LOOPBACK}:{port}")
        store.process._environment["VGW_VIRTUAL_DOMAIN"] = DOMAIN
        store.start()
        yield store


@pytest.fixture
def minio() -> Iterator[OwnObjectStore]:
    from holdfast.fixtures.services.container import Session

    with closing(Session({})) as session:
        store = ObjectStore(session, "nowhere")
        store.container._environment["MINIO_DOMAIN"] = DOMAIN
        store.start()
        yield store


def judged(site: Site, folder: Path, hosts: str) -> Judged:
    """As it comes out where hosts are these."""
    folder.mkdir()
    file = folder.with_suffix(".hosts")
    file.write_text(hosts)
    mounted = ["sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(file)]
    program = [sys.executable, "-P", "-m", run_there.__name__, str(folder)]
    done = subprocess.run([*NAMESPACE, *mounted, *program], input=msgspec.json.encode(site), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Judged)


@pytest.mark.parametrize(
    "server",
    [
        pytest.param("versity", marks=pytest.mark.tier("spark")),
        pytest.param("minio", marks=pytest.mark.tier("containers")),
    ],
)
def test_a_bucket_is_found_by_its_host_alone(server: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    store: OwnObjectStore = request.getfixturevalue(server)
    store.client().make_bucket(BUCKET)
    port = store.external.rpartition(":")[2]
    right = Site(
        s3_endpoint=f"http://{DOMAIN}:{port}",
        s3_access_key=store.keys.access_key,
        s3_secret_key=store.keys.secret_key,
        s3_location=StoreLocation(bucket=BUCKET, virtual_hosts=True),
    )
    # Only the host of the bucket has an address: whoever asks for it by a path finds nobody.
    hosts = f"{Path('/etc/hosts').read_text()}\n127.0.0.1 {BUCKET}.{DOMAIN}\n"
    found = judged(right, tmp_path / "right", hosts)
    assert (found.reason, found.outcome, found.shown) == ("", Outcome.PASS, 0)
    assert found.units
    assert not list(store.client().list_objects(BUCKET, recursive=True))
    by_path = judged(replace(right, s3_location=StoreLocation(bucket=BUCKET)), tmp_path / "path", hosts)
    assert by_path.outcome is Outcome.INCONCLUSIVE
    assert "but it does not answer" in by_path.reason
