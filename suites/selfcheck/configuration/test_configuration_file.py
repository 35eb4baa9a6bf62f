"""Configuration files, line by line. What whole files come to is decided by the cases of CFG-07."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.protocol.configuration.configuration_file import FLAT, NESTED, lines_of
from holdfast.harness.model.configuration import ConfigurationFile

READ = [
    (FLAT, "a: hdfs:///x  # where\nb.c :  10 s\n\n# d: e\n", {"a": "hdfs:///x", "b.c": "10 s"}),
    (NESTED, "a:\n  b: 10 s # long\n  c.d: 'e # f'\ng: \"h: i\"\n", {"a.b": "10 s", "a.c.d": "e # f", "g": "h: i"}),
    (NESTED, "---\na: s3://b/k#1\n'b': 1\n", {"a": "s3://b/k#1", "b": "1"}),
    (NESTED, "a:\n- /x\n- '/y'\nb:\n  - z\nc: [p, \"q\"]\n", {"a": "/x;/y", "b": "z", "c": "p;q"}),
    (NESTED, "# nothing\n", {}),
]
REFUSED = [
    (FLAT, "a", "line 1 is 'a': write 'key: value'."),
    (FLAT, "a: 1\nb:2", "line 2 is 'b:2'"),
    (NESTED, "a:\n  b: 1\n c: 2", "line 3 stands under no key"),
    (NESTED, "a: 1\n  b: 2", "line 2 stands under no key"),
    (NESTED, "a:\nb: 1", "line 1 gives 'a' no value"),
    (NESTED, "a:\n  b: 1\na:\n  c: 1", "line 3 has 'a' for the second time"),
    (NESTED, "a: &anchor 1", "line 1 is 'a: &anchor 1'"),
    (NESTED, "a: {b: 1}", "line 1 is 'a: {b: 1}'"),
    (NESTED, "a: |\n  text", "line 1 is 'a: |'"),
    (NESTED, "a: b: c", "line 1 is 'a: b: c'"),
    (NESTED, "a: 'b", 'line 1 is "a: \'b"'),
    (NESTED, "\ta: 1", "line 1 is 'a: 1'"),
    (NESTED, "- a", "line 1 stands under no key"),
    ("flink.properties", "a=1", "'flink.properties' is of no known kind"),
]


@pytest.mark.parametrize(("name", "text", "options"), READ)
def test_what_flink_reads_is_read(name: str, text: str, options: dict[str, str]) -> None:
    assert {line.key: line.value for line in lines_of(ConfigurationFile(name, text))} == options


@pytest.mark.parametrize(("name", "text", "sentence"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_line(name: str, text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        lines_of(ConfigurationFile(name, text))
    assert sentence in str(caught.value)
