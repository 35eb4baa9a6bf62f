"""The HTTP endpoint of a cluster, on the paths of Flink's REST API.

| request | answer |
| --- | --- |
| GET /jobs, /jobs/overview, /jobs/:id | what there is |
| POST /jobs | another job; `savepointPath`, `allowNonRestoredState`, `claimMode`, `parallelism` |
| POST /jobs/:id/savepoints | a trigger id; `target-directory`, `formatType`, `cancel-job` (flink-1.14 alone) |
| POST /jobs/:id/stop | a trigger id; `targetDirectory`, `drain`, `formatType` |
| GET /jobs/:id/savepoints/:trigger | IN_PROGRESS or COMPLETED, with `location` or `failure-cause` |
| GET /jobs/:id/resource-requirements | by vertex, `parallelism` with its `lowerBound` and `upperBound` |
| PUT /jobs/:id/resource-requirements | the same in the body: the running job goes on at another parallelism |
| PATCH /jobs/:id?mode=cancel | the job is cancelled |
| DELETE /cluster | the cluster ends |
"""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from holdfast.harness.engine.job_cluster.cluster import (
    CANCEL_WITH_SAVEPOINT,
    STEP_MS,
    Answer,
    Cluster,
    Refused,
    Unknown,
)
from holdfast.harness.model.checkpoint import SavepointFormat


class Endpoint:
    """Serves one cluster on a port of this machine.

    Args:
        cluster: that answers.

    Attributes:
        address: where it listens, such as `http://127.0.0.1:8081`.
    """

    def __init__(self, cluster: Cluster) -> None:
        handler = type("Handler", (_Handler,), {"cluster": cluster})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, name="endpoint", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more requests."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def do_PATCH(self) -> None:
        self._answer("PATCH")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def log_message(self, *arguments: Any) -> None:
        """Nothing is logged: the cluster records what it does."""

    def _answer(self, method: str) -> None:
        try:
            status, answer = 200 if method in ("GET", "PUT") else 202, self._route(method)
        except Unknown as error:
            status, answer = 404, {"errors": [error.args[0]]}
        except Refused as error:
            status, answer = 409, {"errors": [str(error)]}
        except (ValueError, OSError) as error:
            status, answer = 400, {"errors": [str(error)]}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _route(self, method: str) -> Answer:
        cluster, parts = self.cluster, [part for part in urlsplit(self.path).path.split("/") if part]
        match method, parts:
            case "GET", ["jobs"] | ["jobs", "overview"]:
                return cluster.ask(cluster.overview)
            case "GET", ["jobs", job]:
                return cluster.ask(lambda: cluster.details(job))
            case "POST", ["jobs"]:
                asked = self._submission()
                return cluster.ask(lambda: cluster.run(asked))
            case "POST", ["jobs", job, "savepoints"]:
                body = self._body()
                target, words = str(body.get("target-directory") or ""), _words(body)
                command = CANCEL_WITH_SAVEPOINT if body.get("cancel-job") else "savepoint"
                return cluster.ask(lambda: cluster.savepoint(job, target, words, command))
            case "POST", ["jobs", job, "stop"]:
                body = self._body()
                target, words = str(body.get("targetDirectory") or ""), _words(body)
                return cluster.ask(lambda: cluster.savepoint(job, target, words, "stop"))
            case "GET", ["jobs", job, "savepoints", trigger]:
                return cluster.ask(lambda: cluster.savepoint_status(job, trigger))
            case "GET", ["jobs", job, "resource-requirements"]:
                return cluster.ask(lambda: cluster.requirements(job))
            case "PUT", ["jobs", job, "resource-requirements"]:
                return self._require(job, self._body())
            case "PATCH", ["jobs", job]:
                return cluster.ask(lambda: cluster.cancel(job))
            case "DELETE", ["cluster"]:
                return cluster.ask(cluster.end)
        raise Unknown(f"{method} {self.path} is no request that a cluster takes.")

    def _require(self, job: str, body: dict[str, Any]) -> Answer:
        """Answer when the job has: it makes what is required durable first."""
        self.cluster.ask(lambda: self.cluster.require(job, body))
        while not self.cluster.ask(lambda: self.cluster.answered(job))["answered"]:
            time.sleep(STEP_MS / 1_000)
        self.cluster.ask(lambda: self.cluster.requirements(job))
        return {}

    def _body(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        if not isinstance(body, dict):
            raise ValueError("the body of a request is an object of JSON: write {...}.")
        return body

    def _submission(self) -> dict[str, int | str]:
        body = self._body()
        asked: dict[str, int | str] = {}
        if body.get("savepointPath"):
            asked["path"] = str(body["savepointPath"])
        if body.get("allowNonRestoredState"):
            asked["ignore_unclaimed"] = 1
        if body.get("claimMode"):
            asked["claim_mode"] = str(body["claimMode"])
        if body.get("parallelism"):
            asked["parallelism"] = int(body["parallelism"])
        return asked


def _words(body: dict[str, Any]) -> dict[str, int | str]:
    form = str(body.get("formatType") or SavepointFormat.CANONICAL).lower()
    if form not in list(SavepointFormat):
        raise ValueError(f"savepoint format {form!r} is not known; allowed are {', '.join(SavepointFormat)}.")
    words: dict[str, int | str] = {"format": form}
    if body.get("drain"):
        words["drain"] = 1
    return words
