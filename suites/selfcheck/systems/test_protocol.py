"""Version 2 of the protocol is spoken as its documentation shows, and what a program may not say is refused."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pytest

import holdfast.fixtures.systems
from holdfast.fixtures.systems.json_lines import life as life_of_a_program
from holdfast.fixtures.systems.json_lines.gates import Gates, Points
from holdfast.fixtures.systems.json_lines.introduction import (
    SELF_TEST,
    Introduction,
    identity_hash,
    init_of,
    parse_hello,
)
from holdfast.fixtures.systems.json_lines.life import Life, ProgramInput, Run
from holdfast.fixtures.systems.json_lines.messages import Claim, Garbage, Hold, Message, Offer, Release, encode
from holdfast.harness import cli
from holdfast.harness.adapter.member import Nodes
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.events import CheckpointCompleted, StateRestored
from holdfast.harness.model.plan import Gate
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.model.target import Role, Target

README = (Path(holdfast.fixtures.systems.__path__[0]) / "README.md").read_text()
DIGESTS = [str(identity_hash(*identity)) for identity in SELF_TEST]
HELLO = {"type": "hello", "version": 2, "claims": "exactly-once", "digests": DIGESTS}
WORKER = Target(Role.WORKER, 0)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def documented(direction: str) -> list[dict[str, Any]]:
    """The examples of version 2, by who says them."""
    part = README.partition("protocol version 2")[2].partition("**Version 1.**")[0]
    return [json.loads(text) for text in re.findall(rf"^{direction} (\{{.*\}})$", part, re.MULTILINE)]


def test_every_message_has_an_example_that_is_valid() -> None:
    schema = msgspec.json.schema(Message)
    validator = jsonschema.Draft202012Validator(schema)
    examples = documented(">") + documented("<")
    for example in examples:
        validator.validate(example)
    assert {each["type"] for each in examples} == {each.split("/")[-1].lower() for each in schema["$defs"]} - {
        "claim",
        "offer",
    }
    assert not validator.is_valid({**HELLO, "offers": ["juggling"]})
    assert not validator.is_valid({**HELLO, "claims": "at-most-once"})


def test_the_init_of_the_documentation_is_what_is_sent() -> None:
    [shown] = [each for each in documented(">") if each["type"] == "init"]
    assert shown == json.loads(encode(init_of("/run/state", 2, 0x9E3779B97F4A7C15)))


def test_the_hello_of_the_documentation_is_right() -> None:
    [shown] = [each for each in documented("<") if each["type"] == "hello"]
    assert parse_hello(line(**shown)) == Introduction(2, Claim.EXACTLY_ONCE, frozenset({Offer.CHECKPOINTS}))


def test_the_test_vectors_are_right_and_hold_those_of_the_self_test() -> None:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", README, re.MULTILINE)
    assert {tuple(map(int, row[:3])) for row in rows} > set(SELF_TEST)
    for key, partition, offset, digest in rows:
        assert identity_hash(int(key), int(partition), int(offset)) == int(digest)


def test_every_offer_is_documented() -> None:
    assert set(re.findall(r"^\| `([a-z-]+)` \| (?!it writes)", README, re.MULTILINE)) >= set(Offer)


def test_a_signed_digest_is_as_good() -> None:
    signed = [identity_hash(*each) - (1 << 64) for each in SELF_TEST]
    assert parse_hello(line(**{**HELLO, "digests": signed})).version == 2


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"version": 3}, "says hello in version 3 of the protocol; this harness knows 2"),
        ({"version": None}, "says hello in version None"),
        (
            {"claims": "at-most-once"},
            "Invalid enum value 'at-most-once' - at `$.claims`; claims may be exactly-once, at",
        ),
        ({"offers": ["juggling"]}, "Invalid enum value 'juggling' - at `$.offers[0]`; claims may be"),
        ({"colour": "red"}, "Object contains unknown field `colour`"),
        ({"offers": ["gates"]}, "names no gates in hello but offers gates: have both, or neither"),
        ({"gates": ["here"]}, "names gates in hello but does not offer gates: have both, or neither"),
        ({"offers": ["damage"]}, "names no store in hello but offers damage: have both, or neither"),
        ({"offers": ["rescale"]}, "offers rescale but not workers"),
        ({"offers": ["workers", "workers"]}, "the same name twice"),
        (
            {"offers": ["gates"], "gates": ["acknowledge"]},
            "names a gate 'acknowledge', which is one of the harness's own",
        ),
        (
            {"offers": ["damage"], "store": "/etc"},
            "keeps its state in '/etc', which does not lie in the folder of the run",
        ),
        ({"digests": DIGESTS[:2]}, "answered 2 of the 3 identities of self_test"),
        ({"digests": [*DIGESTS[:2], "7"]}, f"offset 999999 as 7; it is {DIGESTS[2]}: compare the steps of yours"),
        ({"digests": [*DIGESTS[:2], "seven"]}, "as seven; it is"),
    ],
)
def test_a_hello_that_cannot_be_is_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Garbage, match=re.escape(sentence)) as refused:
        parse_hello(line(**{**HELLO, **fields}))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("said", "silence"),
    [
        (b'{"type":"ready","version":1,"positions":[0,0]}', ""),
        (b"hello", "it answered with what is no JSON object"),
        (b'{"type":"ack","partition":0,"offset":0}', "it answered with 'ack' instead of 'hello'"),
    ],
)
def test_whatever_says_no_hello_is_of_version_1(said: bytes, silence: str) -> None:
    assert parse_hello(said) == Introduction(silence=silence)


def test_a_wrong_hash_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho '{json.dumps({**HELLO, 'digests': ['1', '2', '3']})}'\nexec cat > /dev/null\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert cli.execute(["certify", f"json-lines+{program}"]) == cli.WRONG_USAGE
    *_, error = capsys.readouterr().err.splitlines()  # Behind what a machine may say of earlier runs.
    assert error.startswith(f"holdfast: program {program} computes the identity hash of digest_key")
    assert error.endswith("the test vectors of the protocol.")


def inputs(partitions: int = 2, records: int = 100) -> InputLog:
    values = np.arange(records, dtype=np.int64)
    return InputLog(("k",), tuple(Partition(values * 0, values, records) for _ in range(partitions)))


def life(*offers: Offer, armed: Gates | None = None) -> tuple[Life, Recorder]:
    """One that has said hello, and was sent the first records of two partitions."""
    recorder, feeder, gates = Recorder(), ProgramInput(inputs()), ("here",) if Offer.GATES in offers else ()
    armed = Gates(count()) if armed is None else armed
    run = Run(
        command=("program",), introduction=Introduction(2, Claim.EXACTLY_ONCE, frozenset(offers), gates),
        folder=Path(), partitions=2, digest_key=0, source="source", nodes=Nodes(recorder), logs=Path(), ends=True,
        silence_ms=1, held=tuple, refuses=lambda reason: False, attempts=count(), numbers=count(),
    )  # fmt: skip
    begun = Life("worker-0.0", 1, run, feeder, armed, Points(count(), lambda message: None))
    list(feeder.due(0))
    begun.hear(line(**{**HELLO, "offers": [str(offer) for offer in offers], **({"gates": gates} if gates else {})}))
    return begun, recorder


READY = {"type": "ready", "positions": [0, 0]}
CHECKPOINT = {"type": "checkpoint", "checkpoint": 2, "positions": [3, 0]}


@pytest.mark.parametrize(
    ("offers", "said", "sentence"),
    [
        ((), [CHECKPOINT], "said checkpoint before it sent ready"),
        ((), [READY, CHECKPOINT], "said checkpoint, but does not offer checkpoints in hello"),
        ((), [READY, READY], "sent ready twice"),
        ((), [HELLO], "sent hello twice"),
        ((), [{**READY, "version": 1}], "speaks version 1 of the protocol, not 2"),
        ((), [READY, {"type": "finished"}], "said finished, but does not offer end-of-input in hello"),
        ((Offer.END_OF_INPUT,), [READY, {"type": "finished"}], "said finished, which was not due"),
        ((Offer.GATES,), [READY, {"type": "held", "gate": "here"}], "is held at gate 'here', where nothing holds it"),
        ((Offer.CHECKPOINTS,), [READY, CHECKPOINT, CHECKPOINT], "completed checkpoint 2 behind 2: numbers grow"),
        ((Offer.CHECKPOINTS,), [READY, {**CHECKPOINT, "positions": [0, 99]}], "with 99 records of partition 1, of"),
        ((Offer.CHECKPOINTS,), [READY, {**CHECKPOINT, "positions": [0]}], "gave 1 positions for 2 partitions"),
        ((Offer.CHECKPOINTS,), [READY, {"type": "restored", "checkpoint": 2}], "said restored behind ready"),
    ],
)  # fmt: skip
def test_what_a_life_may_not_say_is_refused(offers: tuple[Offer, ...], said: list[Any], sentence: str) -> None:
    begun, _ = life(*offers)
    for message in said[:-1]:
        begun.hear(line(**message))
    with pytest.raises(Garbage, match=re.escape(sentence)):
        begun.hear(line(**said[-1]))


@pytest.mark.parametrize("path", ["/no/such/savepoint", "/" + "x" * 5_000, "nul\0", ""])
def test_a_savepoint_that_is_not_there_is_refused(path: str) -> None:
    """A name that no file can have was an error of the harness."""
    begun, _ = life(Offer.SAVEPOINT)
    begun.hear(line(**READY))
    begun.ending = True
    with pytest.raises(Garbage, match="which is not there"):
        begun.hear(line(type="savepoint", path=path))


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        (Offer.CHECKPOINTS, lambda number: {"type": "restored", "checkpoint": number}),
        (Offer.CHECKPOINTS, lambda number: {"type": "checkpoint", "checkpoint": number, "positions": [0, 0]}),
        (Offer.GATES, lambda number: {"type": "ack", "partition": 0, "offset": 0}),
    ],
    ids=["restored", "checkpoint", "held ack"],
)
def test_one_that_never_stops_talking_is_given_up(
    offer: Offer, said: Callable[[int], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message was kept, however many there were: the memory of the harness filled up."""
    monkeypatch.setattr(life_of_a_program, "MOST_SAID", 10)
    begun, recorder = life(offer, armed=(gates := Gates(count())))
    if "restored" not in str(said(1)):
        begun.hear(line(**READY))
    gates.arm(Gate("acknowledge", WORKER))
    for number in range(1, 11):
        begun.hear(line(**said(number)))
    with pytest.raises(Garbage, match="sent more than 10 messages in one life"):
        begun.hear(line(**said(11)))
    assert len(recorder.nodes["worker-0.0"]) < 20


def test_what_it_restores_and_completes_is_recorded_on_its_word() -> None:
    begun, recorder = life(Offer.CHECKPOINTS)
    for message in ({"type": "restored", "checkpoint": 1}, READY, CHECKPOINT):
        begun.hear(line(**message))
    [restored, _, completed] = recorder.nodes["worker-0.0"]
    assert isinstance(restored, StateRestored)
    assert isinstance(completed, CheckpointCompleted)
    assert (restored.checkpoint, completed.checkpoint, completed.positions) == (1, 2, (3, 0))
    assert {restored.evidence, completed.evidence} == {Evidence.NATIVE}


class TestPoints:
    """Gates of a program's own."""

    def points(self) -> tuple[Points, list[Hold | Release]]:
        said: list[Hold | Release] = []
        return Points(count(1), said.append), said

    def test_the_second_pass_is_the_one_that_is_held(self) -> None:
        points, said = self.points()
        number = points.arm(Gate("here", WORKER, occurrence=2), alive=True)
        assert not points.held("here", "worker-0.0")
        assert said == [Hold("here"), Hold("here"), Release("here")]
        assert points.held("here", "worker-0.0")
        assert points.stands_at == "here"
        assert [(each.gate, each.precision) for each in points.reached()] == [(number, "exact")]
        points.release(number)
        assert said[-1] == Release("here")
        assert not points.stands_at

    def test_the_next_life_is_asked_again(self) -> None:
        points, said = self.points()
        points.arm(Gate("here", WORKER), alive=False)
        assert said == []
        points.begin()
        points.forget()
        points.begin()
        assert said == [Hold("here"), Hold("here")]

    def test_one_that_is_disarmed_lets_pass(self) -> None:
        points, said = self.points()
        points.disarm(points.arm(Gate("here", WORKER), alive=True))
        assert not points.held("here", "worker-0.0")
        assert said == [Hold("here"), Release("here")]
        assert points.reached() == []


def test_a_feeder_feeds_its_partitions_and_goes_on_where_others_were() -> None:
    log = inputs(partitions=3)
    first = [ProgramInput(log, [0, 2]), ProgramInput(log, [1])]
    sent = {records.partition for records in first[0].due(0)}
    assert sent == {0, 2}
    first[0].acknowledged[2] = 5
    [second] = [ProgramInput(log, [1, 2], first)]
    again = {records.partition: records.offset for records in second.due(0)}
    assert again == {1: 0, 2: 5}
    assert not second.at_the_end
