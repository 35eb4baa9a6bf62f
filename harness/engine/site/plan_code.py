"""Code that a plan names beside its system: a file with a plan may be somebody else's.

Whatever text of a plan reads `module:name` may be imported by its system, wherever it stands: in an option, a call, the
file of a cluster, a parameter. So it needs the user's word, unless it ships with Holdfast or is registered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.foreign import SHIPPED
from holdfast.harness.model import profile
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.submitted_jobs import state_backends_of
from holdfast.harness.oracles.shared.stated_options import stated
from holdfast.harness.spi.parts import part_factories

_ADDRESS = re.compile(r"[\w.-]*:\d+")


def code_named_by(plan: Plan) -> tuple[str, ...]:
    """What of a plan may stand for code that neither ships with Holdfast nor is registered; its system aside."""
    values = msgspec.to_builtins(plan)
    values.pop("system")
    found = {name: None for text in _texts(values) for name in entry_points.NAMED.findall(text)}
    backend = stated(plan).get(profile.BACKEND)
    backends = [*state_backends_of(plan), *([backend.text] if backend is not None else [])]
    found |= {text: None for text in backends if ":" in text and not _ADDRESS.fullmatch(text)}
    known = part_factories()
    return tuple(name for name in found if not name.startswith(SHIPPED) and name not in known)


def third_party_code(system: str, plan: Plan | None = None) -> tuple[str, ...]:
    """The classes that a system and a plan use and that do not ship with Holdfast, as `module:name`, registered or not.

    Args:
        system: by name, with variant.
        plan: that runs on it.
    """
    of_plan = code_named_by(plan) if plan is not None else ()
    return tuple(dict.fromkeys((*entry_points.strangers_in(system), *of_plan)))


def require_trusted_code(plan: Plan, source: str | Path, *, trust: bool) -> None:
    """Refuse a plan from a file that may let its system import code that is not registered.

    Args:
        plan: of the file.
        source: that file, or the run that holds it.
        trust: the user allows whatever it names.

    Raises:
        UsageError: it names code, and is not trusted.
    """
    named = () if trust else code_named_by(plan)
    if named:
        raise UsageError(
            f"{source}: the plan names {', '.join(map(repr, named))}, whose code would be run; what ships with "
            "Holdfast or is registered needs no permission: look at that code, then add --trust."
        )


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)
