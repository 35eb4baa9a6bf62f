"""Wrong, PLACE/written-elsewhere: keeps its checkpoint beside the folder where it belongs."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "format": "json"}


def build(spark, endpoints):
    rows = endpoints.read(spark).select("partition", "offset").writeStream.format("json")
    return rows.option("path", endpoints.output).option("checkpointLocation", f"{endpoints.checkpoint}-mine").start()
