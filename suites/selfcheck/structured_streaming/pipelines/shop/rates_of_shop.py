"""What a pipeline imports from its folder."""

_EUROS = {"EUR": 1.0, "NOK": 0.0875}


def in_euro(currency, amount):
    return _EUROS[currency] * amount
