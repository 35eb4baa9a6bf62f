"""Nights regrouped for showing: by system, what each night found, in the order of the nights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.harness.model.journal import STATUS_RANK, Status
from holdfast.harness.model.night import Night, RecoveryTimes, SystemNight

MOST_NIGHTS = 60
"""On one page; older ones stay in their files."""


@dataclass(frozen=True, slots=True)
class Column:
    """A night of one system; `found` is None where the system did not take part."""

    night: Night
    found: SystemNight | None

    @property
    def name(self) -> str:
        return self.night.name


@dataclass(frozen=True, slots=True)
class Track:
    """One thing over the nights; a value is None where a night knows nothing of it."""

    name: str
    values: tuple[object | None, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        return min(1.0, self.part / self.whole) if self.whole else 0.0


@dataclass(frozen=True, slots=True)
class SystemTrend:
    """One system over the nights.

    Attributes:
        system: with variant.
        columns: one for each night.
        findings: by label, the finding of each night; those of the last night first, then by how often.
        rules: those whose status was not the same every night, or is in trouble; these first.
        recoveries: by attack and tier, its times.
        windows, faults: shares, the least covered of the last night first.
    """

    system: str
    columns: tuple[Column, ...]
    findings: tuple[Track, ...]
    rules: tuple[Track, ...]
    recoveries: tuple[Track, ...]
    windows: tuple[Track, ...]
    faults: tuple[Track, ...]

    @property
    def nights(self) -> int:
        """In how many the system took part."""
        return sum(each.found is not None for each in self.columns)

    @property
    def last(self) -> SystemNight:
        """The newest in which it took part."""
        return next(each.found for each in reversed(self.columns) if each.found is not None)


def trends(nights: Sequence[Night]) -> tuple[SystemTrend, ...]:
    """One for each system of the newest nights, in the order in which the last one names them."""
    shown = nights[-MOST_NIGHTS:]
    names = dict.fromkeys(each.system for night in reversed(shown) for each in night.systems)
    return tuple(_trend(name, shown) for name in names)


def _trend(system: str, nights: Sequence[Night]) -> SystemTrend:
    columns = tuple(
        Column(night, next((each for each in night.systems if each.system == system), None)) for night in nights
    )
    findings = _tracks(columns, lambda found: {each.signature.label: each for each in found.findings})
    rules = _tracks(columns, lambda found: found.rules)
    return SystemTrend(
        system=system,
        columns=columns,
        findings=tuple(sorted(findings, key=lambda each: (each.values[-1] is None, -_times(each), each.name))),
        rules=tuple(sorted(filter(_is_of_interest, rules), key=_trouble)),
        recoveries=_tracks(columns, lambda found: {_recovery(each): each for each in found.recoveries}),
        windows=_by_need(_tracks(columns, lambda found: _shares(found.windows_hit, found.windows_wanted))),
        faults=_by_need(_tracks(columns, lambda found: _shares(found.faults_landed, found.faults_planned))),
    )


def _tracks(columns: Iterable[Column], values: Callable[[SystemNight], Mapping[str, object]]) -> tuple[Track, ...]:
    by_night: list[Mapping[str, object]] = [values(each.found) if each.found is not None else {} for each in columns]
    names = sorted({name for each in by_night for name in each})
    return tuple(Track(name, tuple(each.get(name) for each in by_night)) for name in names)


def _times(track: Track) -> int:
    return sum(each is not None for each in track.values)


def _is_of_interest(track: Track) -> bool:
    statuses = {each for each in track.values if each is not None}
    return len(statuses) > 1 or bool(statuses & {Status.FAIL, Status.ERROR, Status.INCONCLUSIVE, Status.WAIVED})


def _trouble(track: Track) -> tuple[bool, int, int, str]:
    """What is in trouble in the last night first, then what ever was."""
    ranks = [STATUS_RANK[each] for each in track.values if isinstance(each, Status)]
    bad = STATUS_RANK[Status.INCONCLUSIVE]
    return ranks[-1] < bad, -max(ranks), -sum(each >= bad for each in ranks), track.name


def _recovery(times: RecoveryTimes) -> str:
    return f"{times.attack} on {times.tier}"


def _shares(part: dict[str, int], whole: dict[str, int]) -> dict[str, object]:
    """What nobody aimed at, but was hit, is covered."""
    names = {**whole, **part}
    return {
        name: Share(part.get(name, 0), max(whole.get(name, 0), part.get(name, 0), 1))
        for name in names
        if whole.get(name) or part.get(name)
    }


def _by_need(tracks: tuple[Track, ...]) -> tuple[Track, ...]:
    def covered(track: Track) -> tuple[float, str]:
        last = next((each for each in reversed(track.values) if isinstance(each, Share)), None)
        return (last.value if last is not None else 2.0), track.name

    return tuple(sorted(tracks, key=covered))
