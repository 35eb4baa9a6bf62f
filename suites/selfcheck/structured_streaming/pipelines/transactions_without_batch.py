"""Wrong, EXACT/row-repeated: a transactional producer that does not record which micro-batch it has committed."""

from holdfast.suites.selfcheck.structured_streaming.pipelines import transactions

CONTRACT = "records"
OUTPUT = {"kind": "topic"}


def build(spark, endpoints):
    return transactions.build(spark, endpoints, records_batch=False)
