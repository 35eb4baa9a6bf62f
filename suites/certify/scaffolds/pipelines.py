"""The scaffold of a pipeline on Spark Structured Streaming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.suites.certify.scaffolds.text import module, template


class PipelineScaffold(msgspec.Struct, frozen=True):
    """Of a module with `build(spark, endpoints)`."""

    languages: tuple[str, ...] = ("python",)

    def files(self, name: str, language: str) -> Mapping[str, str]:
        words = {
            "NAME": name,
            "CERTIFY": self.commands(name, language)[-1],
            "MARK": 'rules="TPC-08", tier="spark"',
            "KIND": "spark",
            "RIGHT": f"{name}.py",
            "WRONG": f"wrong_{name}.py",
        }
        return {
            f"{name}.py": module("pipeline/right.py", name),
            f"wrong_{name}.py": module("pipeline/wrong.py", name),
            f"test_{name}.py": template("templates/test_twins.txt", words),
            "README.md": template("templates/pipeline.md", words),
            ".github/workflows/holdfast.yml": template("templates/pipeline.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        return ("pytest", f"holdfast certify spark+./{name}.py --tier spark")


PIPELINE = PipelineScaffold()
