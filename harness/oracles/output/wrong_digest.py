"""A digest that is computed in another way than the harness does: the row is right, and its digest is no sum of hashes.

That is a mistake of whoever writes the row, and neither loss nor repetition: with other records the value would differ,
too. So it is concluded only where the values of the key differ from each other, or where the row holds few records.
"""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.records import FoldRow
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel

FEW = 4
"""Records of a row."""


def wrong_digest(model: FoldModel, row: FoldRow) -> str:
    """What is wrong with the digest alone of a row that no repeated or missing records explain, with a test vector.

    Args:
        model: of the input.
        row: of a key and of counts that the input has.

    Returns:
        One sentence; empty if the value is wrong, too, or would be the same for other records.
    """
    expected = model.expected(row.key, row.counts)
    right = expected is not None and expected[0] == row.value & MASK
    if expected is None or not right or model.digest_key is None or not _tells_records_apart(model, row):
        return ""
    partition = max(index for index, count in enumerate(row.counts) if count)
    offset = int(model.offsets(row.key, partition)[0])
    identity = int(np.diff(model.digests(row.key, partition)[:2])[0])
    return (
        f"your digest is wrong, the value and the counts are right: key {row.key!r} at counts {row.counts} has the "
        f"digest {row.digest & MASK:#018x} instead of {expected[1]:#018x}. Check your hash: that of partition "
        f"{partition}, offset {offset} is {identity:#018x} where digest_key is {model.digest_key}"
    )


def _tells_records_apart(model: FoldModel, row: FoldRow) -> bool:
    """Whether other records would have another value, or so few are held that a culprit would have been found."""
    values = [np.diff(model.values(row.key, partition)) for partition in range(len(model.partitions))]
    return sum(row.counts) <= FEW or len(np.unique(np.concatenate(values))) > 1
