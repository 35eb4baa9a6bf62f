"""Inconclusive: counts its records, and writes nothing anywhere."""

CONTRACT = "records"


def build(spark, endpoints):
    def write(batch, number):
        batch.count()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
