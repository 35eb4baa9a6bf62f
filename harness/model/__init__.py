"""The vocabulary: nouns that everything else is written in.

Rules of this package: values only (frozen structs, no I/O, no clock, no randomness); it imports nothing of ours;
a type here is stable for third parties, and what is stored carries a schema version.
"""
