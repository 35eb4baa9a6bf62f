"""The oracles on trial: for every clause a history that breaks it alone, and the nearest legal one."""

from __future__ import annotations

from holdfast.suites.selfcheck.oracles import histories as histories
