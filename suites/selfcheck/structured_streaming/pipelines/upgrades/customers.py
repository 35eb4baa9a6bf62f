"""The first order of each customer: a batch leaves out whom the folders of earlier batches name. It has a next version."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, customer string"
IDENTITY = "order_id"
UNIQUE = ["customer"]
OUTPUT = {"kind": "files", "commit": "overwrite-per-batch"}
NEXT = "customers_in_memory.py"


def generate(number, partition, offset, random):
    return {"order_id": number, "customer": f"customer-{random.randrange(offset + 1)}"}


def earlier(spark, output, number):
    files = spark._jvm.org.apache.hadoop.fs.Path(f"{output}/batch-*/_SUCCESS")
    found = files.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).globStatus(files) or ()
    folders = sorted(str(each.getPath().getParent()) for each in found)
    return [each for each in folders if int(each[-6:]) < number]


def build(spark, endpoints):
    def write(batch, number):
        orders = batch.groupBy("customer").agg(F.min("order_id").alias("order_id"))
        if folders := earlier(spark, endpoints.output, number):
            orders = orders.join(spark.read.parquet(*folders), "customer", "left_anti")
        orders.write.mode("overwrite").parquet(f"{endpoints.output}/batch-{number:06}")

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
