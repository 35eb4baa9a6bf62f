"""The process of a cluster: `python -m holdfast.harness.engine.job_cluster FOLDER`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import msgspec

from holdfast.harness.engine.job_cluster.cluster import Cluster, ClusterSettings
from holdfast.harness.engine.job_cluster.endpoint import Endpoint
from holdfast.harness.engine.job_cluster.folder import ENDPOINT, RUN, SETTINGS, VARIABLE


def main(folder: Path) -> None:
    """Run the cluster of a folder until a request ends it."""
    settings = msgspec.json.decode((folder / SETTINGS).read_bytes(), type=ClusterSettings)
    run = folder / RUN
    run.mkdir()
    cluster = Cluster(settings.plan, run)
    endpoint = Endpoint(cluster, os.environ.pop(VARIABLE), Path(settings.root))
    beside = folder / f"{ENDPOINT}.tmp"
    beside.write_text(json.dumps({"address": endpoint.address}), encoding="utf-8")
    beside.rename(folder / ENDPOINT)
    try:
        cluster.serve()
    finally:
        (folder / ENDPOINT).unlink(missing_ok=True)
        endpoint.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
