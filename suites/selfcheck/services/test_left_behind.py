"""Nothing is left behind: not by a harness that was killed, and no key in anything that is kept."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.suites.selfcheck.services.test_stack import ours
from holdfast.suites.selfcheck.started import Started

if TYPE_CHECKING:
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
OWNER = """
import signal, time
from holdfast.fixtures.services.stack import Stack
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs inherit that it is ignored.
stack = Stack()
stack.links
print(stack.run, stack.exchange, flush=True)
time.sleep(600)
"""


def left_by(end: signal.Signals) -> tuple[str, Path]:
    """Id and exchange folder of a stack whose owner was ended by a signal."""
    with Started.python(OWNER) as owner:
        run, exchange = owner.read_line().split()
        assert len(ours(run)) == 2
        owner.send_signal(end)
        owner.wait(60)
    return run, Path(exchange)


def test_what_a_killed_harness_left_is_found_and_swept(stack: Stack) -> None:
    from holdfast.fixtures.services.provider import Provider
    from holdfast.harness import lease

    assert stack.relay.container.running
    before = ours(stack.run)
    run, exchange = left_by(signal.SIGKILL)
    left = ours(run)
    assert len(left) == 2, "without the sweep it would stay"
    assert all(any(name in found for found in Provider().leftovers()) for name in left)
    done = Provider().sweep()
    assert all(any(name in sentence for sentence in done) for name in left)
    assert ours(run) == []
    assert any(str(exchange) in sentence for sentence in lease.sweep())
    assert not exchange.exists()
    assert not any(run in found for found in Provider().leftovers())
    assert ours(stack.run) == before, "what a living harness uses was touched"
    assert stack.relay.container.running


def test_an_interrupted_harness_leaves_nothing() -> None:
    run, exchange = left_by(signal.SIGINT)
    assert ours(run) == []
    assert not exchange.exists()


def test_keys_are_in_nothing_that_is_kept(stack: Stack, tmp_path: Path) -> None:
    from holdfast.fixtures.images.daemon import connected
    from holdfast.fixtures.services.labels import RUN

    keys = stack.object_store.keys
    secrets = (keys.access_key, keys.secret_key)
    environment = {"ACCESS_KEY": keys.access_key, "SECRET_KEY": keys.secret_key}
    writes = "echo to its log $SECRET_KEY; mkdir -p logs/own; echo to a file $ACCESS_KEY > logs/own/file"
    talkative = stack.run_driver(["sh", "-c", writes], name="talkative", environment=environment)
    talkative.wait_for_end(20)
    assert keys.secret_key in talkative.log(), "without care they would be kept"
    stack.save_logs(tmp_path)
    kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert "to its log ***" in kept["talkative.log"]
    assert "to a file ***" in kept["own-file"]
    with connected() as client:
        labelled = client.containers.list(all=True, filters={"label": f"{RUN}={stack.run}"})
        kept["labels"] = json.dumps([container.labels for container in labelled])
    kept["repr"] = f"{keys!r} {stack!r} {stack.object_store!r} {vars(stack)!r}"
    for name, text in kept.items():
        assert not any(secret in text for secret in secrets), name
    talkative.remove()
