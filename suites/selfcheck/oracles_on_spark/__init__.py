"""Verdicts on Spark, checked against those of the process and of SQL."""
