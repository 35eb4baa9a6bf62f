"""The checkpoint coordinator: its trace, its successors, the files it names, and how it ages (RULES CRD)."""
