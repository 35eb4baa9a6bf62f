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
            "SETUP": chosen.setup,
            "README_RUN": "".join(f"    {command}\n" for command in self.commands(name, language)),
            "CI_RUN": "".join(f"      - run: {command}\n" for command in self.commands(name, language)),
            "CERTIFY_TWIN": " && ".join(self.commands(f"wrong_{name}", language)),
        }
        return {
            f"{name}{chosen.suffix}": right,
            f"wrong_{name}{chosen.suffix}": wrong_twin(right, chosen),
            **{path: template(of, words) for path, of in chosen.project},
            "README.md": template("templates/program.md", words),
            ".github/workflows/holdfast.yml": template("templates/program.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        chosen = LANGUAGES[language]
        build = (command.format(name=name) for command in chosen.build)
        return (*build, f"holdfast certify json-lines+./{chosen.file(name)}")


def wrong_twin(right: str, language: Language) -> str:
    """The same program without its guard, and with another comment at its head."""
    _, closing, code = right.partition(language.closing)
    before, guard, behind = code.partition(language.guard)
    if not guard:
        raise ValueError(f"the program in {language.suffix} has no guard.")
    return f"{language.opening}{MISTAKE}{closing}{before}{behind}"


PROGRAM = ProgramScaffold()
