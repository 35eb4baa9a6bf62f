"""Wrong, LIVE/end-not-reached: goes on behind records that the broker has removed before they were read."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "commit": "sink-log"}


def build(spark, endpoints):
    kafka = spark.readStream.format("kafka").options(**endpoints.kafka_options).option("failOnDataLoss", "false")
    read = kafka.option("subscribe", endpoints.input).option("startingOffsets", "earliest").load()
    rows = read.where("value is not null").select("partition", "offset")
    return endpoints.start(rows.writeStream.format("parquet").option("path", endpoints.output))
