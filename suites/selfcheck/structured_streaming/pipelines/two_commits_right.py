"""Sales and refunds in two writes of a batch, each of which is left out where it is there already."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, kind string, amount double"
IDENTITY = "order_id"
UNIQUE = ["order_id"]
OUTPUT = {"kind": "files", "format": "parquet", "commit": "success-file"}
KINDS = ("sale", "refund")


def generate(number, partition, offset, random):
    return {"order_id": number, "kind": KINDS[number % 2], "amount": random.uniform(1, 100)}


def written(spark, folder):
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/_SUCCESS")
    return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).exists(path)


def build(spark, endpoints):
    def write(batch, number):
        for kind in KINDS:
            folder = f"{endpoints.output}/{kind}/batch={number}"
            if not written(spark, folder):
                batch.where(F.col("kind") == kind).select("order_id", "amount").write.mode("overwrite").parquet(folder)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
