"""Whatever is wrong with a file or a message, a command ends in time, with one sentence and the right exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic

import pytest

from holdfast.fixtures.systems.json_lines.introduction import parse_hello
from holdfast.fixtures.systems.json_lines.messages import Garbage, decode
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.settings import read_settings
from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.foreign import let_pass
from holdfast.harness.sim.streams import Stream
from holdfast.suites.selfcheck.abuse.mutations.driving import MOST_MEGABYTES, HungError, grown_megabytes, violation
from holdfast.suites.selfcheck.abuse.mutations.kinds import KINDS
from holdfast.suites.selfcheck.abuse.mutations.values import mutated_bytes, mutated_json, mutated_text
from holdfast.suites.selfcheck.engine.test_submitted_jobs import Stand

FEW, MANY = 20, 1_000


@pytest.fixture
def no_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep would look for those of others a thousand times."""
    monkeypatch.setattr(services, "service_provider", lambda: None)


def violations(name: str, numbers: range, folder: Path) -> list[str]:
    let_pass(HungError)
    kind, whole, room = KINDS[name], folder / "whole", folder / "room"
    whole.mkdir()
    room.mkdir()
    (room / "beside").write_text("of somebody else")
    kind.make(whole)
    return [found for number in numbers if (found := violation(kind, name, number, whole, room))]


@pytest.mark.usefixtures("no_containers")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.share(5)
def test_few_mutations_do_no_harm(kind: str, tmp_path: Path) -> None:
    assert violations(kind, range(FEW), tmp_path) == []


@pytest.mark.nightly
@pytest.mark.timeout(1_200)
@pytest.mark.usefixtures("no_containers")
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutations_do_no_harm(kind: str, tmp_path: Path) -> None:
    assert violations(kind, range(FEW, FEW + MANY), tmp_path) == []


FEW_MESSAGES, MANY_MESSAGES, NESTED = 20, 1_000, 50_000
LONGEST_LINE = 1 << 16
"""Of a request; the rest of a longer one is not read, and its answer may be lost with that."""
LIMIT_S = 20.0
"""For one answer."""
MESSAGES = (
    b'{"type":"hello","version":2,"claims":"exactly-once","offers":["gates"],"gates":["before-commit"],"store":"s"}',
    b'{"type":"ready","positions":[3,4]}',
    b'{"type":"ack","partition":0,"offset":17}',
)
BODIES = (
    ("/jobs", b'{"parallelism":2,"savepointPath":"/p","claimMode":"CLAIM","allowNonRestoredState":true}'),
    ("/jobs/a/stop", b'{"targetDirectory":"/p","drain":false,"formatType":"NATIVE"}'),
    ("/jobs/a/savepoints", b'{"target-directory":"/p","cancel-job":false,"formatType":"canonical"}'),
)
SETTINGS = b"""\
systems = ["reference", "spark"]
tiers = ["sim"]
budget-minutes = 60
workers = 2
reruns = 3
environment = ["HOME"]
[sites.kafka]
bootstrap = "127.0.0.1:9092"
[[waivers]]
system = "reference"
rule = "BAR-01"
reason = "known"
until = 2030-01-01
"""


def mutated(content: bytes, draw: Stream) -> bytes:
    """JSON in its structure or its bytes, or nested."""
    kind = draw.below(5)
    if kind == 0:
        return draw.choice((b"[", b'{"a":', b'{"type":')) * NESTED
    return mutated_bytes(content, draw) if kind == 1 else mutated_json(content, draw)


def tell_program(draw: Stream, _: Path, __: Stand) -> None:
    line = mutated(draw.choice(MESSAGES), draw).replace(b"\n", b"")
    for hear in (parse_hello, lambda it: decode(it, 1), lambda it: decode(it, 2)):
        with suppress(Garbage):
            hear(line)


def send_request(draw: Stream, _: Path, stand: Stand) -> None:
    path, body = draw.choice(BODIES)
    if draw.chance(0.7):
        body = mutated(body.replace(b"/p", json.dumps(str(stand.root))[1:-1].encode()), draw)
        status, error = stand.ask(body, path=path)
    else:
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{stand.port}", "Authorization: Bearer 0123456789abcdef"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", ""]
        head = "\r\n".join(lines).encode()
        sent = mutated_bytes(head + body, draw)[: 1 << 20]
        status, error = stand.send(sent)
        if not status:
            assert len(sent) > LONGEST_LINE
            return
    assert status in (200, 202) or 400 <= status < 506
    assert bool(error) == (status >= 400)
    assert "Traceback" not in error


def read_settings_file(draw: Stream, folder: Path, _: Stand) -> None:
    kind = draw.below(10)
    content = mutated_bytes(SETTINGS, draw) if kind < 3 else mutated_text(SETTINGS.replace(b" =", b":"), draw)
    content = content if kind < 3 else content.replace(b":", b" =")
    if kind == 9:
        content = b"systems = " + b"[" * NESTED
    (path := folder / "holdfast.toml").write_bytes(content)
    with suppress(UsageError):
        read_settings(path, folder)


MESSAGE_KINDS: Mapping[str, Callable[[Stream, Path, Stand], None]] = {
    "program": tell_program,
    "request": send_request,
    "settings": read_settings_file,
}


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    made = Stand(tmp_path)
    with closing(made.endpoint):
        yield made


def harmless(kind: str, numbers: range, folder: Path, stand: Stand) -> None:
    def answer_all() -> None:
        for number in numbers:
            began_s = monotonic()
            MESSAGE_KINDS[kind](Stream(number, kind), folder, stand)
            assert monotonic() - began_s < LIMIT_S, f"{kind}:{number}"

    assert grown_megabytes(answer_all, []) < MOST_MEGABYTES


@pytest.mark.parametrize("kind", MESSAGE_KINDS)
def test_few_mutations_of_messages_do_no_harm(kind: str, tmp_path: Path, stand: Stand) -> None:
    harmless(kind, range(FEW_MESSAGES), tmp_path, stand)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", MESSAGE_KINDS)
def test_many_mutations_of_messages_do_no_harm(kind: str, tmp_path: Path, stand: Stand) -> None:
    harmless(kind, range(FEW_MESSAGES, FEW_MESSAGES + MANY_MESSAGES), tmp_path, stand)
