"""Committed rows: how often each record is in them, and what is lost, repeated or in excess."""
