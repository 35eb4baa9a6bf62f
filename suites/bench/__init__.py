"""Benchmarks: scripts that share the options of their command lines."""

from __future__ import annotations

import argparse


def part(text: str) -> tuple[int, int]:
    """Its number, from 0, and how many there are: of things in a row, every one in so many from that number on.

    Raises:
        ArgumentTypeError: a text is no part.
    """
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and int(number) < int(parts)):
        raise argparse.ArgumentTypeError(f"{text} is no part: write K/N with K from 0 and below N, such as 2/3.")
    return int(number), int(parts)
