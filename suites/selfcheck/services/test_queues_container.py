"""RabbitMQ in a container: what it confirmed is there again behind a kill; its link can be impaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.fixtures.services.queues import USER, QueueLogin, connected, queue_client
from holdfast.suites.selfcheck.services.listener import becomes

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.queues import Queues
    from holdfast.fixtures.services.stack import Stack

pytestmark = [pytest.mark.nightly, pytest.mark.tier("containers")]
NAME = "holdfast-test"
LIMIT_S = 10.0
MESSAGES = [b"%d" % number for number in range(50)]
GREET = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 3) as stream:
    stream.settimeout(3)
    stream.sendall(b"AMQP" + bytes([0, 0, 9, 1]))
    print(stream.recv(1)[0])
"""
"""The first byte of an answer to the greeting is the type of a frame: 1, a method."""


@pytest.fixture(scope="module")
def server(stack: Stack) -> Queues:
    pytest.importorskip("pika", reason="the extra queues is not installed")
    made = stack.queues
    with connected(made.login, LIMIT_S) as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        channel.queue_declare(NAME, durable=True)
        for message in MESSAGES:
            channel.basic_publish("", NAME, message, persistent(), mandatory=True)
    return made


def persistent() -> Any:
    return queue_client().BasicProperties(delivery_mode=2)


def seen(login: QueueLogin) -> list[bytes]:
    """What lies in the queue; it is given back."""
    with connected(login, LIMIT_S) as connection:
        channel = connection.channel()
        bodies = iter(lambda: channel.basic_get(NAME)[2], None)
        return list(bodies)


def greeted(probe: Container, server: Queues) -> str:
    """What somebody in a container is told who comes through the link; empty: nothing."""
    code, said = probe.execute(["python", "-c", GREET, server.proxied.host, str(server.proxied.port)])
    return "" if code else said.strip()


def test_what_was_confirmed_outlives_a_kill(server: Queues, probe: Container) -> None:
    assert (seen(server.login), greeted(probe, server)) == (MESSAGES, "1")
    server.down()
    assert (server.alive, greeted(probe, server)) == (False, "")
    server.up()
    assert becomes(lambda: sorted(seen(server.login)) == sorted(MESSAGES))
    assert (server.alive, greeted(probe, server)) == (True, "1")


def test_what_stands_still_is_not_alive_and_goes_on(server: Queues) -> None:
    server.pause()
    alive = server.alive
    server.resume()
    assert (alive, becomes(lambda: server.alive)) == (False, True)


def test_its_link_can_be_cut_and_the_host_goes_past_it(stack: Stack, server: Queues, probe: Container) -> None:
    stack.links.act("queues", "cut")
    assert (greeted(probe, server), becomes(server.serves)) == ("", True)
    stack.links.restore("queues")
    assert greeted(probe, server) == "1"


def test_nobody_gets_in_without_the_password_and_nobody_sees_it(stack: Stack, server: Queues) -> None:
    with pytest.raises(OSError, match="does not answer"):
        connected(server.login._replace(password="wrong"), LIMIT_S)
    password = server.login.password
    assert password in stack.secrets
    assert password not in server.container.log()
    _, visible = server.container.execute(["sh", "-c", "cat /proc/[0-9]*/cmdline"], user="rabbitmq")
    assert (USER in server.login.user, "beam" in visible, password in visible) == (True, True, False)
