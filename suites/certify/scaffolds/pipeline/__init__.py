"""A pipeline on Spark Structured Streaming to begin with, and its wrong twin."""
