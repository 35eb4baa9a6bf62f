"""Wrong, LIVE/failed-by-itself: fails on its first record, whether something breaks or not."""

CONTRACT = "records"


def build(spark, endpoints):
    def write(batch, number):
        raise ValueError("there is no exchange rate for EUR")

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
