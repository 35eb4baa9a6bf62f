"""The table of steps. A whole night takes two hours on two cores: the limits and the preparation add up to less."""

from __future__ import annotations

from typing import NamedTuple

TESTS = " ".join(
    ["pytest -n 2 --verbose", *(f"--holdfast-require-tier={tier}" for tier in ("process", "spark", "containers"))]
)
PART = "-p holdfast.suites.selfcheck.night.part --part"


class Step(NamedTuple):
    """One step.

    Attributes:
        name: by which it is run alone.
        minutes: its limit; a step that is over it is ended, with everything that it has started.
        needs: what `.ci/nightly` prepares for it, a function `need_...` each.
        command: of bash, in the checkout. NIGHT is the folder of the night, DAY the number of its day.
    """

    name: str
    minutes: float
    needs: tuple[str, ...]
    command: str


def part(parts: int) -> str:
    """K/N in the shell: every night another part of N, in turn."""
    return f'"$((DAY % {parts}))/{parts}"'


IN_CONTAINERS = ("java", "engine", "images")
OTHER_KITS = ("restart-strategy", "sink", "source", "file-system", "checkpoint-storage")
"""Than that of state backends, which takes as long as all of these, and runs beside them."""
AREAS_OF_FLINK = ("REC CRD", "E2E STO UNA", "RST FIN RSC BAR", "TRG ASY CFG RET SAV")
"""In turn: all of them take 20 minutes on real processes, and each of these parts about six."""
GUIDES = (
    "certify-my-backend or my-tests",
    "certify-my-connector or read-a-verdict",
    "first-certificate or nightly-runs",
    "four_lines or ci_passes",
)
"""In turn."""
LONG_GUIDES = ("real-flink", "certify-my-pipeline", "certify-my-engine")
"""These build images, or certify Flink, Spark and engines several times, which takes longer than what a night has for
guides: follow them by hand, `pytest suites/selfcheck/test_guides.py -m nightly -k real-flink`."""
STEPS = (
    # README's two commands where the interpreter is a newer one, in turn.
    Step("newer-python", 15, ("java",), '.ci/python "3.$((12 + DAY % 2))"'),
    # Every rule, each variant of it, on every tier that there is.
    Step("reference", 18, IN_CONTAINERS, 'holdfast certify reference --thorough --out "$NIGHT/reference"'),
    # What a reader follows, each from a clone of its own.
    Step(
        "guides",
        5,
        ("java",),
        f"guides=({' '.join(repr(names) for names in GUIDES)})\n"
        "pytest -n 2 -v -m nightly suites/selfcheck/test_guides.py "
        '-k "${guides[$((DAY % ${#guides[@]}))]}"',
    ),
    # The cases of suites/conformance are those of the certificate above. Tests that need Flink, PostgreSQL or other
    # services which a bare machine lacks are nightly, so that they are run here: in containers, which share one stack,
    # 20 s each, on Spark and Flink 15 to 30 s, others 1 s, which come to two and a half hours of one worker.
    Step(
        "tests",
        10,
        (*IN_CONTAINERS, "psql", "services", "flink", "go", "node", "spark_archive"),
        f"{TESTS} {PART} {part(17)} suites/ -m nightly --ignore=suites/conformance --ignore=suites/chaos "
        "--ignore=suites/selfcheck/test_guides.py",
    ),
    # The default and the older Spark in one night, the latter in an environment of its own.
    Step(
        "spark-versions",
        3,
        ("java", "older_spark", "spark_archive"),
        "pytest -n 2 --verbose --holdfast-require-tier=spark -m 'nightly or not nightly' "
        "suites/selfcheck/structured_streaming/test_spark_version.py",
    ),
    # The newest PySpark, which a user may have instead; containers have the Spark of their image all the same.
    Step(
        "newest-pyspark",
        4,
        ("java",),
        'newest="$PWD/build/newest-venv"; [ -x "$newest/bin/python" ] || python -m venv "$newest"\n'
        '"$newest/bin/pip" install --quiet --upgrade --editable '
        "'.[spark-newest,avro,containers,tables,rocksdb,test]'\n"
        'DOCKER_HOST=unix:///none PATH="$newest/bin:$PATH" pytest -n 2 --verbose --holdfast-require-tier=spark '
        f"{PART} {part(8)} suites/selfcheck/spark suites/selfcheck/structured_streaming "
        '-m "nightly or not nightly"',
    ),
    # Whatever day it is tried on, a mutant of the protocol is in one part. Of all that differ 92 % are refuted, of the
    # 20 of one night almost always three quarters.
    Step(
        "mutants",
        7,
        (),
        f"python -m holdfast.suites.selfcheck.mutation --part {part(320)} --aim 75 "
        # What the runtime does untouched is of one commit.
        '--out "$NIGHT/mutants-$(git rev-parse --short HEAD)"',
    ),
    # With another seed every night.
    Step(
        "kits",
        7,
        (),
        'kits() { python -m holdfast.suites.selfcheck.certify.ten_of_ten --times 1 --first "$DAY" "$@"; }\n'
        "kits state-backend & beside=$!\n"
        f"kits {' '.join(OTHER_KITS)} || failed=1\n"
        'wait "$beside" && [ -z "${failed:-}" ]',
    ),
    # The rules of some areas, in turn, and wrong jobs; a few of these once more in containers.
    Step(
        "flink",
        8,
        ("java", "flink"),
        f"parts=({' '.join(repr(areas) for areas in AREAS_OF_FLINK)})\n"
        'holdfast certify flink --thorough --tier process --out "$NIGHT/flink" '
        '$(printf -- " --area %s" ${parts[$((DAY % ${#parts[@]}))]})',
    ),
    Step(
        "flink-in-containers",
        6,
        (*IN_CONTAINERS, "flink"),
        'holdfast certify flink --thorough --tier containers --out "$NIGHT/flink-in-containers"',
    ),
    # The compiled wheel does what the sources say, and both what they did when the plans were stored; in turn. To build
    # it from nothing takes six minutes of its nine.
    Step(
        "compiled",
        9,
        (),
        # No tee: it would open the log of the step anew, and overwrite it.
        'seconds() { local all; all=$(cat); echo "$all" >&2; '
        "sed -n 's/.* runs, \\(.*\\) s of processor time.*/\\1/p' <<<\"$all\"; }\n"
        f"sources=$(python -m holdfast.suites.bench.behaviour --part {part(4)} | seconds)\n"
        "wheel=$(python -m holdfast.suites.bench.compiled -- "
        f"holdfast.suites.bench.behaviour --part {part(4)} | seconds)\n"
        'awk -v sources="$sources" -v wheel="$wheel" '
        """'BEGIN { printf "compiled, the same plans take 1/%.2f of the time.\\n", sources / wheel }'""",
    ),
    # New plans every night; the reports of all nights can be compared (holdfast diff).
    Step("drawn-plans", 11, (), "holdfast nightly --config .ci/holdfast.toml --out build/nights"),
    Step("chaos", 8, IN_CONTAINERS, f'{TESTS} suites/chaos -m "nightly or not nightly"'),
)
MOST_MINUTES = 111
