"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.file_system.kit import CHECKS, certify
from holdfast.suites.certify.file_system.target import target_of
from holdfast.suites.certify.plug import deciding, shown


class FileSystemKit:
    """File systems."""

    subject = Subject.FILE_SYSTEM
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
        chosen = deciding(CHECKS, rules)
        return map(shown, certify(target_of(factory, location, options), chosen, seed))
