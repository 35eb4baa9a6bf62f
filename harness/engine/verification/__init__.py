"""Somebody else's certificate, recomputed: what of it follows from what lies beside it, and what is the sender's word.

Rules of this package: nothing in the folder is believed because it stands there, no code that it names is imported
without permission, and every statement is one sentence.
"""
