"""How well a colour can be told from its ground, as WCAG 2.2 defines it."""

from __future__ import annotations

Colour = tuple[float, float, float]
"""Red, green and blue, each from 0 to 1."""
LEAST = 4.5
"""Of text, at level AA."""
LEAST_OF_SHAPES = 3.0


def channels(colour: str) -> Colour:
    """Of #rrggbb."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def mixed(colour: Colour, share: float, ground: Colour) -> Colour:
    """So much of a colour, and the rest of another."""
    red, green, blue = (share * one + (1 - share) * other for one, other in zip(colour, ground, strict=True))
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """From 1, the same, to 21, black on white."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Colour) -> float:
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
