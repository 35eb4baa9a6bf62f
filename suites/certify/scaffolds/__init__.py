"""What `holdfast new` writes: folders that run, from which authors of parts start.

Each has one right implementation, as short as its contract allows, and its wrong twin. The first line of the twin
names one honest mistake and the rule that refutes it. Both are modules here, too, and so they are checked as they
stand; `holdfast new` changes names alone. They import the SPI and the vocabulary, and nothing else of ours.
"""
