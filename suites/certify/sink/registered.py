"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.connected import Connected
from holdfast.suites.certify.plug import deciding, shown
from holdfast.suites.certify.sink.kit import CHECKS, certify, supplied_by_author


class SinkKit:
    """Sinks."""

    subject = Subject.SINK
    rules = frozenset(check.rule for check in CHECKS)
    checks = len(CHECKS)

    def certify(
        self,
        factory: str,
        rules: frozenset[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        connected = Connected(location, options or {})
        chosen = deciding(CHECKS, rules)
        verdicts = certify(factory, checks=chosen, seed=seed, connected=connected)
        supplied = supplied_by_author(factory, connected)
        return (replace(shown(verdict), supplied_by_author=supplied) for verdict in verdicts)

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        if options:
            raise ValueError("--option is for the kit of sinks alone: leave --tier out, or write it into the location.")
        return f"reference+sink={factory}{f'@{location}' if location else ''}"
