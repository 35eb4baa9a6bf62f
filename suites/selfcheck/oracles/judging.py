"""The oracles that ship with the harness, by name."""

from __future__ import annotations

from holdfast.harness.oracles import ORACLES

BY_NAME = {oracle.name: oracle for oracle in ORACLES}
