"""Options can be stated in files and by calls, in two spellings: no oracle looks for them in `Plan.options` alone."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.harness import oracles
from holdfast.suites.selfcheck.source_files import source_files

HOME = Path(oracles.__file__).parent
THE_READER = "shared/stated_options.py"
DIRECTLY = re.compile(r"plan\.options\b")


def test_every_oracle_reads_options_wherever_they_are_stated() -> None:
    sources = dict(source_files(below=HOME))
    assert DIRECTLY.search(sources.pop(THE_READER))
    assert [name for name, text in sources.items() if DIRECTLY.search(text)] == []
