"""The scaffold of a program over JSON lines: the same program in several languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.suites.certify.scaffolds.text import template

MISTAKE = "Wrong, against REC-03: records that are sent again behind a restart count twice."


class Language(msgspec.Struct, frozen=True):
    """How a program is written and run.

    Attributes:
        suffix: of its file.
        opening, closing: around the comment at its head.
        guard: the statement that passes over what the table holds; the wrong twin lacks it, and nothing else.
        build: what makes the file that runs, from `{name}`; empty: the source itself runs.
        setup: steps of GitHub Actions that bring the language.
    """

    suffix: str
    opening: str
    closing: str
    guard: str
    build: str = ""
    setup: str = ""


_GUARD = "// Sent again, maybe in one message with new records.\n"
LANGUAGES = {
    "python": Language(
        ".py",
        '"""',
        '"""\n\n',
        "        # Sent again, maybe in one message with new records.\n"
        "        if offset < self.positions[partition]:\n            return\n",
    ),
    "node": Language(
        ".js",
        "/* ",
        " */\n",
        f"    {_GUARD}    if (offset < this.positions[partition]) return;\n",
        setup='      - uses: actions/setup-node@v4\n        with:\n          node-version: "22"\n',
    ),
    "go": Language(
        ".go",
        "// ",
        "\npackage main\n",
        f"\t{_GUARD}\tif offset < t.Positions[partition] {{\n\t\treturn\n\t}}\n",
        build="go build -o {name} {name}.go",
        setup='      - uses: actions/setup-go@v5\n        with:\n          go-version: "stable"\n',
    ),
}


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
            "README.md": template("templates/program.md", words),
            ".github/workflows/holdfast.yml": template("templates/program.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        chosen = LANGUAGES[language]
        if not chosen.build:
            return (f"holdfast certify json-lines+./{name}{chosen.suffix}",)
        return (chosen.build.format(name=name), f"holdfast certify json-lines+./{name}")


def wrong_twin(right: str, language: Language) -> str:
    """The same program without its guard, and with another comment at its head."""
    _, closing, code = right.partition(language.closing)
    before, guard, behind = code.partition(language.guard)
    if not guard:
        raise ValueError(f"the program in {language.suffix} has no guard.")
    return f"{language.opening}{MISTAKE}{closing}{before}{behind}"


PROGRAM = ProgramScaffold()
