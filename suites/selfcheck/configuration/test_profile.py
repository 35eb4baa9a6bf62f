"""The keys of options are spelled in one module, and every default is written down a second time, by hand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from holdfast.fixtures.reference.protocol.configuration.configuration import DEFAULTS, OPTIONS
from holdfast.fixtures.reference.protocol.configuration.submission import configure, effective_configuration
from holdfast.harness.model import profile
from holdfast.harness.model.profile import FLINK_1_14, FLINK_2, PROFILE
from holdfast.harness.oracles.configuration.configuration_model import ConfigurationModel
from holdfast.suites.conformance.plans import submitted
from holdfast.suites.conformance.samples import defaults, own_defaults
from holdfast.suites.selfcheck.source_files import source_files
from holdfast.suites.spec import load_rules

KEYS = {*profile.OPTIONS, *profile.OLDER}
PREFIXES = {key.rpartition(".")[0] for key in KEYS if key.count(".") > 1 and "-" in key}
KEY = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(KEYS | PREFIXES, key=len, reverse=True)))})(?![\w-])")


def spelled(source: str) -> Iterator[tuple[int, str]]:
    """Line and key of each text that holds a key, or the beginning of several; documentation may."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    for text in texts:
        if id(text) not in documentation and (found := KEY.search(str(text.value))):
            yield text.lineno, found[0]


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ('options["execution.checkpointing.interval"]', ["execution.checkpointing.interval"]),
        ('f"option execution.checkpointing.interval = {value}"', ["execution.checkpointing.interval"]),
        ('KEY = "state.backend.local-recovery"', ["state.backend.local-recovery"]),
        ('f"{name}: " "restart-strategy.fixed-delay" f".{end}"', ["restart-strategy.fixed-delay"]),
        ("options[profile.INTERVAL]", []),
        ('"spark.sql.streaming.checkpointLocation"', []),
        ('"the state.backend.typeface"', []),
        ('def interval():\n    """Of `execution.checkpointing.interval`."""', []),
    ],
)
def test_a_spelled_key_is_found_and_a_name_is_not(source: str, keys: list[str]) -> None:
    assert [key for _, key in spelled(source)] == keys


def test_no_other_module_spells_a_key() -> None:
    sources = source_files("faults", "fixtures", "harness", "reports")
    found = {f"{path}:{line} spells {key}" for path, source in sources for line, key in spelled(source)}
    assert {each for each in found if not each.startswith("harness/model/profile.py:")} == set()


def test_each_option_names_a_rule_of_the_catalogue() -> None:
    rules = {rule.id for rule in load_rules()}
    assert [option.key for option in profile.OPTIONS.values() if option.rule not in rules] == []


def test_the_reference_has_every_option_in_the_order_of_the_profile() -> None:
    assert [option.key for option in OPTIONS] == list(profile.OPTIONS)


def test_a_backoff_that_never_grows_is_refused() -> None:
    """As by Flink's ExponentialDelayRestartBackoffTimeStrategy."""
    [multiplier] = [option for option in OPTIONS if option.key == profile.EXPONENTIAL_MULTIPLIER]
    with pytest.raises(ValueError, match=r"= '1\.0' is too small: more than 1 is allowed\."):
        multiplier.read(multiplier.key, "1.0")
    assert multiplier.read(multiplier.key, "1.1") == 1.1


def test_the_defaults_of_a_version_name_it() -> None:
    assert [defaults.profile for defaults in DEFAULTS.values()] == list(DEFAULTS)


@pytest.mark.parametrize("version", [FLINK_1_14, FLINK_2])
def test_every_default_is_the_one_that_is_written_down(version: str) -> None:
    listed = {PROFILE: version, **defaults(version), **own_defaults()}
    assert listed.keys() == profile.OPTIONS.keys()
    plan = submitted({PROFILE: version})
    reported = {setting.key: setting.value for setting in effective_configuration(configure(plan)).settings}
    derived = {key: expected.value for key, expected in ConfigurationModel(plan).settings.items()}
    assert reported == listed
    assert derived == listed


@pytest.mark.parametrize("version", [FLINK_1_14, FLINK_2])
def test_no_option_of_ours_is_listed_as_one_of_flink(version: str) -> None:
    assert defaults(version).keys() & {PROFILE, *own_defaults()} == set()
