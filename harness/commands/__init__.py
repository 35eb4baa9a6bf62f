"""What the commands of `holdfast` do. Imported when a command runs, so that help and doctor stay fast.

A command returns its exit code: 0 fine, 1 violated, 2 inconclusive, 3 wrong usage, 4 harness error.
"""
