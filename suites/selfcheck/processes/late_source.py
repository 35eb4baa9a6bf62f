"""A wrong source whose splits are the partitions of its feeder."""

from __future__ import annotations

from holdfast.fixtures.mutants.sources.readers import ResumesOneLate, with_reader

LateSource = with_reader(ResumesOneLate)
