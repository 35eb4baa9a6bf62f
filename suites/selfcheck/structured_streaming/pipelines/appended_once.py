"""Right: appends JSON lines in foreachBatch, and skips a micro-batch that is there already, by its id."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "format": "json", "commit": "success-file"}


def build(spark, endpoints):
    hadoop = spark._jvm.org.apache.hadoop.fs

    def write(batch, number):
        folder = f"{endpoints.output}/batch={number}"
        marker = hadoop.Path(f"{folder}/_SUCCESS")
        if not marker.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).exists(marker):
            batch.select("partition", "offset").write.mode("overwrite").json(folder)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
