"""Wrong, EXACT/row-repeated: Spark's Kafka sink, which writes a micro-batch that runs again once more."""

from holdfast.suites.selfcheck.structured_streaming.pipelines.published import OUTPUT, build

__all__ = ["OUTPUT", "build"]
CONTRACT = "records"
GUARANTEE = "exactly-once"
