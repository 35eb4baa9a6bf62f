"""In which languages a program over JSON lines can be written, and what each of them needs."""

from __future__ import annotations

import msgspec

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
