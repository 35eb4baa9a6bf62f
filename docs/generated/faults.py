"""Every fault: what it does, whom it hits, its parameters."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.spi.fault import AnyFault, declared


def pages() -> dict[str, str]:
    """`faults.md`."""
    faults = sorted(toolbox().faults.values(), key=lambda fault: fault.kind)
    return {"faults.md": "\n".join(line for part in (_head(), *map(_fault, faults)) for line in part)}


def _head() -> Iterator[str]:
    yield "# Faults"
    yield ""
    yield "A plan names a fault by its kind. Each is written once and acts on every tier that has its mechanism."
    yield "That it took effect is proved from the history of the run, never from the timing of its trigger."


def _fault(fault: AnyFault) -> Iterator[str]:
    yield f"\n## {fault.kind}\n"
    yield " ".join((type(fault).__doc__ or "").split("\n\n")[0].split())
    yield f"\n- **Hits**: {', '.join(sorted(fault.roles))}"
    yield f"- **Lasts**: {'until it is healed' if fault.lasting else 'a moment'}"
    yield f"- **Leaves undecided**: {fault.leaves}"
    if may_cause := declared(fault):
        yield f"- **May cause**: {', '.join(may_cause)}"
    if fault.parameters:
        yield "\n| parameter | type | meaning |\n|---|---|---|"
        for name, (kind, meaning) in sorted(fault.parameters.items()):
            yield f"| `{name}` | {kind.__name__} | {meaning} |"
