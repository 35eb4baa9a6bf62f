"""Talks to a cluster by its endpoint, and starts one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.job_cluster.cluster import ClusterSettings
from holdfast.harness.engine.job_cluster.folder import (
    ENDPOINT,
    LOG,
    RUN,
    SETTINGS,
    TOKEN,
    VARIABLE,
    make_token,
    read_token,
    write_token,
)
from holdfast.harness.engine.job_cluster.jobs import COMPLETED
from holdfast.harness.model.plan import Plan

START_S = 60.0
POLL_S = 0.02
Answer = dict[str, Any]


class ClusterClient:
    """The cluster of a folder.

    Args:
        folder: of the cluster.
        token: of the cluster; empty: the one in its folder, and for a new cluster a random one.
    """

    def __init__(self, folder: Path, token: str = "") -> None:
        self.folder = folder
        self._given = token

    @property
    def runs(self) -> bool:
        """Whether a cluster serves the folder."""
        return (self.folder / ENDPOINT).exists()

    def start(self, plan: Plan, root: Path | None = None) -> None:
        """Start a cluster whose first job is that of a plan, and wait until it takes requests.

        Args:
            plan: of its first job.
            root: below which all paths of requests must lead; None: the folder that holds the cluster's.

        Raises:
            UsageError: it cannot be started; one sentence.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / RUN).exists():
            raise UsageError(f"{self.folder}: holds what a cluster has left; choose another folder with --folder.")
        below = str((root or self.folder.absolute().parent).absolute())
        (self.folder / SETTINGS).write_bytes(msgspec.json.encode(ClusterSettings(plan, below)))
        token = self._given or make_token()
        write_token(self.folder, token)
        with (self.folder / LOG).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "holdfast.harness.engine.job_cluster", str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, VARIABLE: token},
            )
        deadline = time.monotonic() + START_S
        while not self.runs:
            if process.poll() is not None:
                said = (self.folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
                raise UsageError(f"the cluster did not start: {said[-1] if said else 'its log is empty'}")
            if time.monotonic() > deadline:
                process.kill()
                raise UsageError(f"the cluster did not start within {START_S:.0f} s: see {self.folder / LOG}.")
            time.sleep(POLL_S)

    def ask(self, method: str, path: str, body: Answer | None = None) -> Answer:
        """One request.

        Raises:
            UsageError: there is no cluster, or it refuses; one sentence.
        """
        place = self.folder / ENDPOINT
        if not place.exists():
            raise UsageError(f"{self.folder}: no cluster runs there; start one with `holdfast job run`.")
        address = json.loads(place.read_text(encoding="utf-8"))["address"]
        token = self._given or read_token(self.folder / TOKEN)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = Request(f"{address}{path}", json.dumps(body or {}).encode(), headers, method=method)
        try:
            with urlopen(request, timeout=60) as response:
                answer: Answer = json.loads(response.read())
                return answer
        except HTTPError as error:
            raise UsageError(json.loads(error.read())["errors"][0]) from None
        except URLError as error:
            raise UsageError(f"{self.folder}: the cluster does not answer at {address}: {error.reason}.") from None

    def wait_for_savepoint(self, job: str, trigger: str) -> str:
        """Wait until a requested savepoint is complete; returns its folder.

        Raises:
            UsageError: it failed, or the cluster is gone.
        """
        while True:
            answer = self.ask("GET", f"/jobs/{job}/savepoints/{trigger}")
            if answer["status"]["id"] == COMPLETED:
                operation = answer["operation"]
                if "failure-cause" in operation:
                    raise UsageError(operation["failure-cause"]["stack-trace"])
                return str(operation["location"])
            time.sleep(POLL_S)

    def wait_for_state(self, job: str, *states: str) -> Answer:
        """Wait until a job is in one of some states; returns its status then."""
        while True:
            details = self.ask("GET", f"/jobs/{job}")
            if details["state"] in states:
                return details
            time.sleep(POLL_S)
