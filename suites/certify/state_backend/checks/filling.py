"""State of every kind, so that what is lost of one of them shows."""

from __future__ import annotations

from holdfast.harness.spi.state import StateKind, Timer
from holdfast.suites.certify.state_backend.live import MERGED, Live
from holdfast.suites.certify.state_backend.model import TIMER_KINDS, element

NAMESPACES = (b"", b"window")


def fill(live: Live, salt: bytes = b"") -> None:
    """Put something into every state, in every key group, in two namespaces."""
    for descriptor in live.model.descriptors.values():
        for key_group in live.groups:
            for number, namespace in enumerate(NAMESPACES):
                change(live, descriptor.name, key_group, namespace, number, salt)


def change(live: Live, state: str, key_group: int, namespace: bytes, number: int, salt: bytes) -> None:
    """Put something into one namespace of one state, which depends on all arguments."""
    kind = live.model.descriptors[state].kind
    where = b"%d/%d" % (key_group, number)
    if kind in TIMER_KINDS:
        live.add_timers(state, [Timer(at, key_group, namespace, salt + b"k") for at in (-5, 10 * number, 2_000)])
    elif kind is StateKind.LIST:
        live.merge(state, key_group, namespace, [(b"k", element(salt + where)), (b"k", element(b""))])
        live.merge(state, key_group, namespace, [(b"k", element(b"more"))])
    elif kind in MERGED:
        live.merge(state, key_group, namespace, [(b"k", salt + where), (b"k", b"zz"), (b"other", where)])
    else:
        live.put(state, key_group, namespace, [(b"k", salt + where), (b"empty", b""), (b"", b"no key")])


def change_everything(live: Live) -> None:
    """Other values, other keys, removed keys, cleared namespaces, fired timers."""
    for name, descriptor in live.model.descriptors.items():
        if descriptor.kind in TIMER_KINDS:
            live.poll(name, 10, 3)
            live.add_timers(name, [Timer(3, live.groups.start, b"later", b"later")])
            continue
        for key_group in live.groups:
            if descriptor.kind in MERGED:
                live.merge(name, key_group, b"", [(b"k", element(b"later"))])
            else:
                live.put(name, key_group, b"", [(b"k", b"later"), (b"later", b"")])
                live.remove(name, key_group, b"", [b"empty"])
            live.clear(name, key_group, b"window")
