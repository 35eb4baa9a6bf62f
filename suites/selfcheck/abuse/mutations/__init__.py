"""Mutations of what the harness reads: each from a seed of its own, each checked for what must never happen.

Rules of this package: a mutation changes files below one folder and nothing else; whatever it was, a command ends in
time with an exit code that it may have, prints no traceback, touches nothing outside that folder and leaves no process.
"""
