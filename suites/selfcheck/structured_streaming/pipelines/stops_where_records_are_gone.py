"""Right: fails where the broker has removed records before they were read, as Spark's source does by itself."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "commit": "sink-log"}


def build(spark, endpoints):
    kafka = spark.readStream.format("kafka").options(**endpoints.kafka_options)
    read = kafka.option("subscribe", endpoints.input).option("startingOffsets", "earliest").load()
    rows = read.where("value is not null").select("partition", "offset")
    return endpoints.start(rows.writeStream.format("parquet").option("path", endpoints.output))
