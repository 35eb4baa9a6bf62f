"""Fields of a table of TOML, each checked where it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.nearest import known_names

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
        """What is to be raised about a field."""
        shown = "missing" if value is None else repr(value)[:_SHOWN]
        return UsageError(f"{self._source}: {name} is {shown}; allowed is {allowed}: {advice}.")
