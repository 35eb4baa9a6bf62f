"""What a night runs, as `holdfast.toml` or the table `tool.holdfast` of a `pyproject.toml` states it.

Every field is checked where it is read. Keys of an object store stand in no file: they come from the environment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.waivers import Waiver
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.services import Sites
from holdfast.harness.model.case import Tier
from holdfast.harness.model.sentence import known_names
from holdfast.harness.spi.outside_files import WRITTEN_BYTES

_SHOWN = 80


class Fields:
    """One table.

    Args:
        table: as it was parsed.
        source: where it stands, as the user knows it.
    """

    def __init__(self, table: Mapping[str, Any], source: str) -> None:
        self._table = table
        self._source = source

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._table)

    def allow(self, names: Sequence[str], note: str = "") -> None:
        """Refuse any other field.

        Raises:
            UsageError: there is one.
        """
        for name in self._table:
            if name not in names:
                allowed = f"{known_names(name, names, 'allowed are')}{note}"
                raise UsageError(f"{self._source}: unknown field {name!r}; {allowed}: remove or rename it.")

    def text(self, name: str) -> str:
        """A text; empty where it is not given."""
        value = self._table.get(name, "")
        if not isinstance(value, str):
            raise self.wrong(name, value, "a text", f'write {name} = "..."')
        return value

    def texts(self, name: str, allowed: Sequence[str] = ()) -> tuple[str, ...]:
        """Different texts, each one of `allowed` if that is given; none where it is not given."""
        values = self._table.get(name, [])
        if not isinstance(values, list) or not all(isinstance(each, str) and each for each in values):
            raise self.wrong(name, values, "a list of texts", f'write {name} = ["...", "..."]')
        for value in values:
            if allowed and value not in allowed:
                raise self.wrong(name, value, ", ".join(allowed), "use these")
            if values.count(value) > 1:
                raise self.wrong(name, value, "each value once", "remove the others")
        return tuple(values)

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number; the default where it is not given."""
        value = self._table.get(name, default)
        if name in self._table and (type(value) is not int or not least <= value <= most):
            raise self.wrong(name, value, f"a whole number from {least} to {most}", f"write {name} = {least}")
        return int(value)

    def day(self, name: str) -> date:
        """A day, which must be given."""
        value = self._table.get(name)
        if not isinstance(value, date) or isinstance(value, datetime):
            raise self.wrong(name, value, "a day", f"write {name} = 2027-01-31, without quotes")
        return value

    def table(self, name: str) -> dict[str, Any]:
        """A table; empty where it is not given."""
        value = self._table.get(name, {})
        if not isinstance(value, dict):
            raise self.wrong(name, value, "a table", f"write [{name}]")
        return value

    def fields(self, name: str) -> Fields:
        return Fields(self.table(name), f"{self._source}: {name}")

    def each(self, name: str) -> Iterable[Fields]:
        """The fields of each table of a list of tables."""
        values = self._table.get(name, [])
        if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
            raise self.wrong(name, values, "a list of tables", f"write [[{name}]] above each")
        return [Fields(each, f"{self._source}: {name}[{index}]") for index, each in enumerate(values)]

    def wrong(self, name: str, value: object, allowed: str, advice: str) -> UsageError:
        """The error for a wrong value of a field."""
        shown = "missing" if value is None else repr(value)[:_SHOWN]
        return UsageError(f"{self._source}: {name} is {shown}; allowed is {allowed}: {advice}.")


_MOST_DOTS = 1_000
"""Of a line: the parser takes the square of them."""

OWN_FILE, SHARED_FILE = "holdfast.toml", "pyproject.toml"
MOST_MINUTES = 24 * 60
MOST_RERUNS, MOST_WORKERS = 100, 256
_FIELDS = ("systems", "tiers", "budget-minutes", "workers", "reruns", "environment", "sites", "waivers")
_SITES = ("kafka-bootstrap", "s3-endpoint", "spark-master", "images", "allow-faults-on")
_WAIVER = ("signature", "rule", "system", "reason", "expires")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a night runs.

    Attributes:
        systems: by name, with variant.
        tiers: only these; none: all that a system and this machine can run.
        budget_s: after which nothing begins; equal shares for all systems.
        workers: cases that compute at a time; None: one for each core.
        reruns: how often each failing plan is run again.
        environment: variables that the systems under test get, too.
        sites: services that exist.
        waivers: findings that do not fail the night.
    """

    systems: tuple[str, ...] = ()
    tiers: tuple[Tier, ...] = ()
    budget_s: float = 3_600.0
    workers: int | None = None
    reruns: int = 3
    environment: tuple[str, ...] = ()
    sites: Sites = Sites()
    waivers: tuple[Waiver, ...] = ()


def read_settings(path: Path | None, folder: Path) -> Settings:
    """The settings of a file; without one, those of the folder's `holdfast.toml`, or of its `pyproject.toml`.

    Args:
        path: that the user named; None: none.
        folder: where the files are looked for; settings of neither are the defaults.

    Raises:
        UsageError: a field is wrong or unknown; one sentence.
    """
    if path is None:
        own, shared = folder / OWN_FILE, folder / SHARED_FILE
        path = own if own.is_file() else shared if shared.is_file() else None
        if path is None:
            return Settings()
    source = str(path)
    content = _parsed(path, source)
    if path.name == SHARED_FILE:
        content = Fields(Fields(content, source).table("tool"), f"{source}: tool").table("holdfast")
        source = f"{source}: tool.holdfast"
    return _settings(Fields(content, source))


def _parsed(path: Path, source: str) -> dict[str, object]:
    try:
        text = read_content(path, WRITTEN_BYTES).decode()
        if (dots := max((line.count(".") for line in text.splitlines()), default=0)) > _MOST_DOTS:
            raise UsageError(f"{source}: a line has {dots:,} dots, allowed are {_MOST_DOTS:,}; write shorter keys.")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # Also of a number that is too long, and of lists in lists in lists.
        raise UsageError(f"{source}: it is not TOML ({error}); mend that line.") from error


def _settings(fields: Fields) -> Settings:
    fields.allow(_FIELDS)
    default = Settings()
    minutes = fields.whole("budget-minutes", round(default.budget_s / 60), 1, MOST_MINUTES)
    workers = fields.whole("workers", 0, 1, MOST_WORKERS)
    return Settings(
        systems=fields.texts("systems"),
        tiers=tuple(Tier(each) for each in fields.texts("tiers", [tier.value for tier in Tier])),
        budget_s=60.0 * minutes,
        workers=workers or None,
        reruns=fields.whole("reruns", default.reruns, 0, MOST_RERUNS),
        environment=fields.texts("environment"),
        sites=_sites(fields.fields("sites")),
        waivers=tuple(map(_waiver, fields.each("waivers"))),
    )


def _sites(fields: Fields) -> Sites:
    fields.allow(_SITES, "; keys come from the environment variables HOLDFAST_S3_ACCESS_KEY and HOLDFAST_S3_SECRET_KEY")
    images = fields.fields("images")
    return Sites(
        kafka_bootstrap=fields.text("kafka-bootstrap"),
        s3_endpoint=fields.text("s3-endpoint"),
        spark_master=fields.text("spark-master"),
        images=tuple(f"{name}={images.text(name)}" for name in images.names),
        allow_faults_on=fields.texts("allow-faults-on"),
    )


def _waiver(fields: Fields) -> Waiver:
    fields.allow(_WAIVER)
    signature, rule = fields.text("signature"), fields.text("rule")
    if bool(signature) == bool(rule):
        raise fields.wrong("signature", signature, "either a signature as a report prints it, or a rule", "name one")
    known = {each.id for each in registry.rules()}
    if rule and rule not in known:
        raise fields.wrong("rule", rule, "the id of a rule", "look it up with holdfast rules")
    reason = fields.text("reason")
    if not reason:
        raise fields.wrong("reason", reason, "a sentence", 'write reason = "why this finding may wait"')
    return Waiver(
        signature=signature, rule=rule, system=fields.text("system"), reason=reason, expires=fields.day("expires")
    )
