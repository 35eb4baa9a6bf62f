"""The adapter of Spark Structured Streaming: its parts without Spark, and what of it needs Spark."""
