"""Wrong, NOLOSS/input-lost: leaves a micro-batch out that comes long after the one before, as if it had been there."""

import time

CONTRACT = "records"
OUTPUT = {
    "kind": "files", "format": "csv", "schema": "partition int, offset long", "commit": "overwrite-per-batch",
}  # fmt: skip
LONGEST_S = 1.9


def build(spark, endpoints):
    ended = []

    def write(batch, number):
        late = ended and time.monotonic() - ended[-1] > LONGEST_S
        if not late:
            batch.select("partition", "offset").write.mode("overwrite").csv(f"{endpoints.output}/batch={number}")
        ended.append(time.monotonic())

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
