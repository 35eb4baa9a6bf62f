"""Nights shown: one as a page, a summary and files for CI servers, and many as a page of trends."""
