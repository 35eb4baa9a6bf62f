"""A pipeline whose rows are written by `foreachBatch`: a micro-batch that runs again is written once.

Holdfast imports this module, and it imports nothing of Holdfast. It says what must come out, and where. Records of your
own need a `SCHEMA` and a function `generate`, and then `UNIQUE`, `expected` or `batch` in place of `CONTRACT`.
"""

CONTRACT = "records"
GUARANTEE = "exactly-once"
OUTPUT = {"kind": "files", "format": "json", "commit": "success-file"}


def build(spark, endpoints):
    """Start the query; `endpoints.start` keeps its progress in `endpoints.checkpoint`."""
    hadoop = spark._jvm.org.apache.hadoop.fs
    configuration = spark._jsparkSession.sessionState().newHadoopConf()

    def write(batch, number):
        # Spark runs a micro-batch again whose commit it does not find, with the same number and the same records.
        folder = f"{endpoints.output}/batch={number}"
        written = hadoop.Path(f"{folder}/_SUCCESS")
        if not written.getFileSystem(configuration).exists(written):
            batch.select("partition", "offset").write.mode("overwrite").json(folder)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
