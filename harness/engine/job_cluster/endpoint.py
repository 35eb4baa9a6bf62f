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

Each has a header `Authorization: Bearer TOKEN`. A body is JSON, and says so. Paths lead below the root of the cluster.
"""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SOMAXCONN, socket
from threading import BoundedSemaphore, Thread
from typing import Any

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.job_cluster.cluster import (
    CANCEL_WITH_SAVEPOINT,
    STEP_MS,
    Answer,
    Cluster,
    Refused,
    Unknown,
)
from holdfast.harness.engine.job_cluster.request_checks import (
    Door,
    Rejected,
    SavepointRequest,
    StopRequest,
    Submission,
    body_length,
    checked,
    claim_mode,
    named_values,
    parts_of,
    path_below,
    savepoint_format,
)

LOOPBACK = "127.0.0.1"
REQUEST_LIMIT_S = 10.0
"""How long a client may take to say anything."""
MOST_AT_A_TIME = 64
POLL_S = 0.1
"""How long the end of the endpoint may take."""


class Endpoint:
    """Serves one cluster on a port of this machine.

    Args:
        cluster: that answers.
        token: that every request must have.
        root: below which all paths of requests must lead.

    Attributes:
        address: where it listens, such as `http://127.0.0.1:8081`.
    """

    def __init__(self, cluster: Cluster, token: str, root: Path) -> None:
        self._server = _Server((LOOPBACK, 0), _Handler)
        port = self._server.server_port
        self._server.RequestHandlerClass = type(
            "Handler", (_Handler,), {"cluster": cluster, "door": Door(token, port), "root": root}
        )
        self.address = f"http://{LOOPBACK}:{port}"
        self._thread = Thread(target=self._server.serve_forever, args=(POLL_S,), name="endpoint", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more requests."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    """Serves so many at a time; the next ones are closed."""

    request_queue_size = SOMAXCONN
    """Who connects waits for whoever came before, and does not have to try again."""

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._free = BoundedSemaphore(MOST_AT_A_TIME)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Ignore the error: a client that disconnects is no error of the cluster."""


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    door: Door
    root: Path
    timeout = REQUEST_LIMIT_S
    default_request_version = "HTTP/1.0"
    """Before 1.0 an answer has no status."""

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
        """Log nothing: the cluster records what it does."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer an invalid request like any other that is refused."""
        self._send(code, {"errors": [f"{message or 'this is no request'}: send one that a cluster takes."]})

    def _answer(self, method: str) -> None:
        try:
            status, answer = 200 if method in ("GET", "PUT") else 202, self._route(method, self._body())
        except Rejected as error:
            status, answer = error.status, {"errors": [str(error)]}
        except Unknown as error:
            status, answer = 404, {"errors": [error.args[0]]}
        except Refused as error:
            status, answer = 409, {"errors": [str(error)]}
        except (UsageError, ValueError, OSError) as error:
            status, answer = 400, {"errors": [str(error)]}
        self._send(status, answer)

    def _send(self, status: int, answer: Answer) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True

    def _body(self) -> bytes:
        length = body_length(self.door, self.headers)
        body = self.rfile.read(length)
        if len(body) < length:
            raise Rejected(400, f"the body has {len(body)} of {length} bytes of Content-Length: send it whole.")
        return body

    def _route(self, method: str, body: bytes) -> Answer:
        cluster, parts = self.cluster, parts_of(self.path)
        match method, parts:
            case "GET", ["jobs"] | ["jobs", "overview"]:
                return cluster.ask(cluster.overview)
            case "GET", ["jobs", job]:
                return cluster.ask(lambda: cluster.details(job))
            case "POST", ["jobs"]:
                requested = self._submission(checked(body, Submission))
                return cluster.ask(lambda: cluster.run(requested))
            case "POST", ["jobs", job, "savepoints"]:
                wanted = checked(body, SavepointRequest)
                command = CANCEL_WITH_SAVEPOINT if wanted.cancel_job else "savepoint"
                return self._savepoint(job, "target-directory", wanted, command)
            case "POST", ["jobs", job, "stop"]:
                return self._savepoint(job, "targetDirectory", checked(body, StopRequest), "stop")
            case "GET", ["jobs", job, "savepoints", trigger]:
                return cluster.ask(lambda: cluster.savepoint_status(job, trigger))
            case "GET", ["jobs", job, "resource-requirements"]:
                return cluster.ask(lambda: cluster.requirements(job))
            case "PUT", ["jobs", job, "resource-requirements"]:
                return self._require(job, named_values(body))
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

    def _savepoint(self, job: str, field: str, wanted: SavepointRequest | StopRequest, command: str) -> Answer:
        target = path_below(self.root, field, wanted.target_directory)
        words: dict[str, int | str] = {"format": savepoint_format(wanted.format_type)}
        if isinstance(wanted, StopRequest) and wanted.drain:
            words["drain"] = 1
        return self.cluster.ask(lambda: self.cluster.savepoint(job, target, words, command))

    def _submission(self, wanted: Submission) -> dict[str, int | str]:
        requested: dict[str, int | str] = {}
        if path := path_below(self.root, "savepointPath", wanted.savepoint_path):
            requested["path"] = path
        if wanted.allow_non_restored_state:
            requested["ignore_unclaimed"] = 1
        if mode := claim_mode(wanted.claim_mode):
            requested["claim_mode"] = mode
        if wanted.parallelism:
            requested["parallelism"] = wanted.parallelism
        return requested
