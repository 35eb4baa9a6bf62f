"""In a worker: runs checks of a kit, and reports each as it ends. What a part raises costs one check."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import msgspec

from holdfast.harness.engine.certification.process_state import changed, process_state
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import in_words
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.program_share import fewer_programs
from holdfast.harness.engine.site.surroundings import take_store_keys
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck, TriesUnderFaults


class KitAssignment(msgspec.Struct, frozen=True, tag=True):
    """Checks of one kit on one factory, in the order in which they run; the other fields as Kit.certify.

    Attributes:
        under_faults: they are those of TriesUnderFaults.
        silence_limit_s: a worker that ends no check for so long hangs.
        program_share: of the random programs of a check, how many run.
        store_keys: with which the kit looks into an object store.
    """

    contract: str
    factory: str
    checks: tuple[KitCheck, ...]
    seed: int = 0
    location: str = ""
    options: dict[str, str] = {}
    under_faults: bool = False
    silence_limit_s: float = inf
    program_share: float = 1.0
    store_keys: dict[str, str] = {}


class CheckEnded(msgspec.Struct, frozen=True, tag=True):
    """A check is over."""

    check: KitCheck


class KitEnded(msgspec.Struct, frozen=True, tag=True):
    """No more checks."""


class KitRefused(msgspec.Struct, frozen=True, tag=True):
    """The factory cannot be loaded, or has no use for a location or options; one sentence."""

    reason: str


KitMessage = CheckEnded | KitEnded | KitRefused


def tried(assignment: KitAssignment, interruption: Interruption) -> Iterator[KitMessage]:
    """Run the checks; the last message is KitEnded or KitRefused. After a signal the check under way is the last. So is
    one in which the kit broke, or behind which the process is not as it was: the others are left to a new process."""
    take_store_keys(assignment.store_keys)
    left = list(assignment.checks)
    found: Iterator[KitCheck] | None = None
    bent = ""
    before = process_state()
    broken = False
    while left and not bent and not broken and not interruption.reason():
        try:
            if found is None:
                found = _begun(assignment, left)
                before = process_state()  # What the part changes when it is imported, it changes in each process.
            check = _next(found, interruption, assignment.program_share)
        except (KitUseless, UsageError) as error:
            yield KitRefused(str(error))
            return
        except BaseException as error:  # A kit goes on no more after that, so the rest is begun anew.
            found, check = None, _broken_off(left[0], assignment, error)
        if check is None:
            break
        left = [each for each in left if each.id != check.id]
        bent, broken = changed(before), check.status is Status.ERROR
        yield CheckEnded(_with_what_is_bent(check, bent))
    yield KitEnded()


class KitUseless(Exception):
    """See KitRefused."""


def _begun(assignment: KitAssignment, left: list[KitCheck]) -> Iterator[KitCheck]:
    kit = registry.kit(assignment.contract)
    run = kit.under_faults if assignment.under_faults and isinstance(kit, TriesUnderFaults) else kit.certify
    ids = frozenset(each.id for each in left)
    try:
        found: Iterator[KitCheck] = run(
            assignment.factory, ids, assignment.seed, assignment.location, assignment.options
        )
    except ValueError as error:
        raise KitUseless(str(error)) from error
    return found


def _next(found: Iterator[KitCheck], interruption: Interruption, share: float) -> KitCheck | None:
    """The next one that ends; None at the end, or where a second signal broke it off."""
    try:
        with fewer_programs(share), interruption.breakable():
            return next(found, None)
    except KeyboardInterrupt:
        if interruption.dropped:
            return None
        raise


def _with_what_is_bent(check: KitCheck, bent: str) -> KitCheck:
    """A check in which the kit broke, with what was changed of the process meanwhile."""
    if check.status is not Status.ERROR or not bent:
        return check
    return msgspec.structs.replace(check, reason=f"{check.reason}; meanwhile the part has changed {bent}")


def _broken_off(check: KitCheck, assignment: KitAssignment, error: BaseException) -> KitCheck:
    """What a check says that was ended by an exception: an error is the kit's own, for it handles those of the part."""
    if isinstance(error, Exception):
        return msgspec.structs.replace(check, status=Status.ERROR, reason=f"the kit broke: {in_words(error)}")
    reason = f"{assignment.contract} {assignment.factory} raised {in_words(error)}, which would end the process"
    return msgspec.structs.replace(check, status=Status.FAIL, reason=reason)
