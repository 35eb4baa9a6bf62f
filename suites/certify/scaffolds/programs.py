"""The scaffold of a program over JSON lines: the same program in several languages, and what each of them needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.suites.certify.scaffolds.parts import template

_SENT_AGAIN = "Sent again, maybe in one message with new records.\n"


class Language(msgspec.Struct, frozen=True):
    """How a program is written and run.

    Attributes:
        suffix: of its file.
        opening, closing: around the comment at its head.
        guard: the statement that passes over what the table holds; the wrong twin lacks it, and nothing else.
        build: commands that make the file that runs, from `{name}`; empty: the source itself runs.
        runs: that file, from `{name}`.
        setup: steps of GitHub Actions that bring the language.
        project: templates of files beside the source, by path.
    """

    suffix: str
    opening: str
    closing: str
    guard: str
    build: tuple[str, ...] = ()
    runs: str = ""
    setup: str = ""
    project: tuple[tuple[str, str], ...] = ()

    def file(self, name: str) -> str:
        """What runs."""
        return (self.runs or f"{{name}}{self.suffix}").format(name=name)


def _setup(action: str, key: str, version: str, more: str = "") -> str:
    return f'      - uses: actions/{action}\n        with:\n          {key}: "{version}"\n{more}'


LANGUAGES = {
    "python": Language(
        ".py",
        '"""',
        '"""\n\n',
        f"        # {_SENT_AGAIN}        if offset < self.positions[partition]:\n            return\n",
    ),
    "node": Language(
        ".js",
        "/* ",
        " */\n",
        f"    // {_SENT_AGAIN}    if (offset < this.positions[partition]) return;\n",
        setup=_setup("setup-node@v4", "node-version", "22"),
    ),
    "go": Language(
        ".go",
        "// ",
        "\npackage main\n",
        f"\t// {_SENT_AGAIN}\tif offset < t.Positions[partition] {{\n\t\treturn\n\t}}\n",
        build=("go build -o {name} {name}.go",),
        runs="{name}",
        setup=_setup("setup-go@v5", "go-version", "stable"),
    ),
    "java": Language(
        ".java",
        "/* ",
        " */\n",
        f"        // {_SENT_AGAIN}        if (offset < positions[partition]) {{\n            return;\n        }}\n",
        build=(
            "javac -d {name}_classes {name}.java",
            "jar --create --file {name}.jar --main-class Program -C {name}_classes .",
        ),
        runs="{name}.jar",
        setup=_setup("setup-java@v4", "java-version", "17", "          distribution: temurin\n"),
    ),
    "rust": Language(
        ".rs",
        "// ",
        "\n\n",
        f"        // {_SENT_AGAIN}        if offset < self.positions[partition] {{\n            return;\n        }}\n",
        build=("cargo build --release --bin {name}",),
        runs="target/release/{name}",
        project=(("Cargo.toml", "templates/cargo.txt"),),
    ),
}


MISTAKE = "Wrong, against REC-03: records that are sent again behind a restart count twice."


class ProgramScaffold(msgspec.Struct, frozen=True):
    """The scaffold of a program that sums by key."""

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
