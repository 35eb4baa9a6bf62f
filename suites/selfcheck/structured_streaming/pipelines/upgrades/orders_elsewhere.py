"""Wrong, LIVE/end-not-reached: keeps its checkpoint in a new folder. Its micro-batches are numbered from 0 again, hold
other orders, and are taken for those that its former version wrote."""

SCHEMA = "order_id long, amount double, at timestamp"
TIME = "at"
IDENTITY = "order_id"
GUARANTEE = "exactly-once"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def written(spark, folder):
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/_SUCCESS")
    return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).exists(path)


def build(spark, endpoints):
    def write(batch, number):
        folder = f"{endpoints.output}/batch-{number:06}"
        if not written(spark, folder):
            batch.write.mode("overwrite").parquet(folder)

    orders = endpoints.read(spark).writeStream.option("checkpointLocation", f"{endpoints.checkpoint}-v2")
    return orders.trigger(processingTime=f"{endpoints.trigger_ms} milliseconds").foreachBatch(write).start()
