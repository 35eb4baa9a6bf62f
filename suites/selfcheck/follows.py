"""What else is bound to be seen when a variant takes its one wrong step, besides the clauses that decide.

A clause that is not listed here stays silent on every case that the variant is tried on: a rule decided by it passes.
"""

from __future__ import annotations

from collections.abc import Mapping

EXTRA = ("CUT/state-extra", "EXACT/row-wrong", "EXACT/row-repeated", "EXACT/counts-stepped-back", "EXACT/beyond-input")
"""Records took effect twice."""
LOST = ("CUT/state-missing", "EXACT/row-wrong", "EXACT/input-missing", "NOLOSS/input-lost")
"""Records took none."""
STUCK = ("LIVE/end-not-reached", "LIVE/no-new-checkpoints", "LIVE/input-not-drained")
"""The job, or its checkpoints, stand still."""
OTHER_NUMBERS = ("GOLDEN/checkpoint-value", "GOLDEN/final-value")

OTHER_OPTIONS = ("CONFIG/value-wrong", "CONFIG/origin-wrong", "CONFIG/warning-wrong", "CONFIG/lint-wrong")
OTHER_FIGURES = ("SAMPLES/default-differs", "SAMPLES/sample-differs", "SAMPLES/sample-notes-differ")

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "A3": ("CUT/processed-while-blocked", "EXACT/beyond-input", *EXTRA, *OTHER_NUMBERS),
    "B2": ("CUT/state-missing", *LOST),
    "B3": ("CUT/channel-state-missing", "CUT/restored-order", *LOST),
    "D2": ("RESTORE/audit-failed", *STUCK),
    "G1": ("RESTORE/state-differs", "RESTORE/position-differs", *EXTRA),
    "I1": STUCK,
    "C4": ("LIVE/input-not-drained", *LOST),
    "accepts-any-option": ("LIVE/end-not-reached",),
    "allows-any-claim": ("LIVE/end-not-reached",),
    "allows-any-directory": ("LIVE/end-not-reached",),
    "allows-concurrent-unaligned": ("LIVE/end-not-reached",),
    "backoff-grows-forever": STUCK,
    "acks-before-durable": ("RESTORE/state-differs", "RESTORE/audit-differs", "LOUD/started-empty", *EXTRA, *LOST),
    "always-chains": ("CUT/barrier-once",),
    "blocks-in-at-least-once": ("CUT/blocked-in-at-least-once", *OTHER_NUMBERS),
    "captures-behind-barrier": ("CUT/restored-order", *EXTRA),
    "commits-above-notice": ("TXN/committed-before-completion",),
    "commits-only-noticed": ("TXN/not-committed", "EXACT/counts-stepped-back", "LIVE/end-not-reached"),
    "commits-on-barrier": ("TXN/committed-above-notice",),
    "completes-without-ack": ("CHAIN/operator-missing", "SNAPSHOT/aborted-file-left"),
    "counts-simultaneous": ("COUNT/simultaneous-counted", *STUCK),
    "counts-duplicate-acks": ("COORD/completed-without-ack", "CHAIN/operator-missing"),
    "counts-stale-acks": ("COORD/completed-without-ack",),
    "defaults-of-other-version": STUCK,
    "drops-held-records": LOST,
    "falls-back": (
        "COORD/restored-not-latest",
        "LOUD/started-older",
        "LOUD/started-empty",
        "EXACT/order-broken",
        *EXTRA,
        *STUCK,
    ),
    "forgets-drawn-ids": ("LIVE/end-not-reached",),
    "forgets-overtaken-outputs": ("CUT/state-missing", "CUT/restored-order", *LOST),
    "forgets-recovered-transactions": ("LIVE/end-not-reached",),
    "forgets-start": LOST,
    "ignores-max-concurrent": ("PACE/share-too-high",),
    "ignores-min-pause": ("PACE/pause-too-short", "PACE/share-too-high"),
    "keeps-discarded-state": ("SNAPSHOT/aborted-file-left",),
    "keeps-files-of-failed-store": ("SNAPSHOT/aborted-file-left",),
    "keeps-slot": STUCK,
    "ignores-calls": ("LIVE/end-not-reached", "CONFIG/claimed-too-much", *OTHER_OPTIONS, *OTHER_FIGURES),
    "ignores-file": ("LIVE/end-not-reached", *OTHER_OPTIONS, *OTHER_FIGURES),
    "knows-newest-spelling": OTHER_OPTIONS,
    "knows-one-profile": ("CONFIG/value-wrong", "CONFIG/origin-wrong", *OTHER_FIGURES),
    "lints-nothing": ("CONFIG/lint-wrong", *OTHER_FIGURES),
    "loses-in-chain": LOST,
    "never-chains": ("CHAIN/snapshot-apart",),
    "never-forgets-failures": STUCK,
    "puts-file-over-code": ("LIVE/end-not-reached", *OTHER_OPTIONS),
    "records-old-position": ("CUT/state-extra",),
    "refuses-limits": ("LIVE/end-not-reached",),
    "tolerates-any-number": ("CONFIG/value-wrong", *OTHER_FIGURES),
    "tolerates-one-less": ("CONFIG/value-wrong", "LIVE/no-new-checkpoints", "LIVE/input-not-drained", *OTHER_FIGURES),
    "stays-blocked": ("LIVE/channel-left-blocked", *STUCK),
    "takes-last-spelling": ("LIVE/end-not-reached",),
    "region-starts-empty": (
        "COORD/tasks-restored-differently",
        "LOUD/started-empty",
        "EXACT/order-broken",
        *EXTRA,
        *STUCK,
    ),
    "stops-after-restore": STUCK,
    "takes-late-splits": ("LIVE/input-not-drained", "EXACT/row-repeated", "EXACT/order-broken"),
    "tears-region": STUCK,
    "reorders-around-barrier": (
        "SNAPSHOT/processed-while-writing",
        "EXACT/row-wrong",
        "EXACT/input-missing",
        "NOLOSS/input-lost",
        "CUT/processed-while-blocked",
        "CUT/state-missing",
    ),
    "rereads-other-values": ("CUT/state-extra", "CUT/state-missing", "NOLOSS/extra-not-a-repeat"),
    "restarts-after-none": ("LIVE/end-not-reached",),
    "restarts-at-once": ("COUNT/delay-wrong",),
    "loses-kind-of-failure": ("LIVE/end-not-reached",),
    "restarts-after-unrecoverable": ("LIVE/end-not-reached",),
    "restarts-four-times": STUCK,
    "restarts-fifty-times": STUCK,
    "restarts-once-less": STUCK,
    "restarts-once-more": ("LIVE/end-not-reached",),
    "restarts-without-strategy": ("LIVE/end-not-reached",),
    "restores-differently": ("LIVE/end-not-reached",),
    "overtakes-everywhere": ("CUT/channel-state-missing", *LOST),
    "restores-in-flight-late": ("CUT/channel-state-missing", "EXACT/row-wrong", "EXACT/counts-stepped-back"),
    "restores-in-flight-twice": ("CUT/restored-order", "CUT/channel-state-extra", *EXTRA),
    "restores-nothing-in-flight": ("CUT/restored-order", "RESTORE/channel-state-differs", *LOST),
    "restores-older": ("LOUD/started-older", *STUCK),
    "snapshots-chain-apart": (
        "EXACT/order-broken",
        "METRICS/start-delay-wrong",
        "METRICS/part-duration-wrong",
        *EXTRA,
        *STUCK,
    ),
    "snapshots-chain-twice": ("CHAIN/snapshot-apart",),
    "revokes-completed": ("LOUD/started-older", *EXTRA, *STUCK),
    "source-repeats-one": ("RESTORE/position-differs", *EXTRA),
    "source-skips-one": ("RESTORE/position-differs", "GOLDEN/final-value", "LIVE/input-not-drained", *LOST),
    "starts-empty": ("COORD/restored-not-latest", "LOUD/started-empty", "REACH/file-missing", *EXTRA, *STUCK),
    "starts-empty-if-missing": ("COORD/restored-not-latest", "REACH/file-missing", *EXTRA, *STUCK),
    "stores-heads": ("LOUD/partial-metadata", "RESTORE/audit-failed", "LIVE/end-not-reached"),
    "tells-before-durable": (
        "COORD/notices-not-increasing",
        "TXN/committed-before-completion",
    ),
    "stops-sources-while-aligning": ("CUT/source-stalled", "PACE/records-stand-still"),
    "goes-on-without-snapshot": STUCK,
    "sends-barrier-behind-upload": ("SNAPSHOT/stood-while-uploading",),
    "swallows-write-errors": (
        "SNAPSHOT/acked-before-durable",
        "SNAPSHOT/aborted-file-left",
        "RESTORE/audit-differs",
    ),
    "triggers-everybody": (
        "METRICS/start-delay-wrong",
        "CHAIN/without-barrier",
        "CUT/emission-after-snapshot",
        "CUT/state-missing",
        "SNAPSHOT/barrier-after-upload",
    ),
    "system:acknowledges-first": LOST,
}
