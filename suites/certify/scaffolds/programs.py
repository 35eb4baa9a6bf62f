"""The scaffold of a program over JSON lines: the same program in several languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.suites.certify.scaffolds.languages import LANGUAGES, Language
from holdfast.suites.certify.scaffolds.text import template

MISTAKE = "Wrong, against REC-03: records that are sent again behind a restart count twice."


class ProgramScaffold(msgspec.Struct, frozen=True):
    """Of a program that sums by key."""

    languages: tuple[str, ...] = tuple(LANGUAGES)

    def files(self, name: str, language: str) -> Mapping[str, str]:
        chosen = LANGUAGES[language]
        right = template(f"program/right{chosen.suffix}", {})
        words = {
            "NAME": name,
            "SUFFIX": chosen.suffix,
            "MARK": 'rules="REC-03"',
            "KIND": "json-lines",
            "RIGHT": chosen.file(name),
            "WRONG": chosen.file(f"wrong_{name}"),
            "SETUP": chosen.setup,
            "README_RUN": "".join(f"    {command}\n" for command in self.commands(name, language)),
            "CI_RUN": "".join(f"      - run: {command}\n" for command in self.commands(name, language)),
            "CERTIFY_TWIN": " && ".join((*_build(f"wrong_{name}", chosen), _certify(f"wrong_{name}", chosen))),
        }
        return {
            f"{name}{chosen.suffix}": right,
            f"wrong_{name}{chosen.suffix}": wrong_twin(right, chosen),
            **{path: template(of, words) for path, of in chosen.project},
            f"test_{name}.py": template("templates/test_twins.txt", words),
            "README.md": template("templates/program.md", words),
            ".github/workflows/holdfast.yml": template("templates/program.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        chosen = LANGUAGES[language]
        return (*_build(name, chosen), *_build(f"wrong_{name}", chosen), "pytest", _certify(name, chosen))


def _build(name: str, language: Language) -> Sequence[str]:
    return [command.format(name=name) for command in language.build]


def _certify(name: str, language: Language) -> str:
    return f"holdfast certify json-lines+./{language.file(name)}"


def wrong_twin(right: str, language: Language) -> str:
    """The same program without its guard, and with another comment at its head."""
    _, closing, code = right.partition(language.closing)
    before, guard, behind = code.partition(language.guard)
    if not guard:
        raise ValueError(f"the program in {language.suffix} has no guard.")
    return f"{language.opening}{MISTAKE}{closing}{before}{behind}"


PROGRAM = ProgramScaffold()
