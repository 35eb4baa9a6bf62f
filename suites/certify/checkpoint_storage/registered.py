"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.checkpoint_storage.kit import CHECKS, certify
from holdfast.suites.certify.checkpoint_storage.target import target_of
from holdfast.suites.certify.plug import deciding, shown


class CheckpointStorageKit:
    """Checkpoint storages."""

    subject = Subject.CHECKPOINT_STORAGE
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

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        uri = "" if "://" in factory else f"@{location}" if location or options else ""
        return f"reference+storage={factory}{uri}{f'?{urlencode(options)}' if options else ''}"
