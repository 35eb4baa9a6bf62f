"""What a pipeline names in PY_FILES."""


def with_tax(amount):
    return amount * 1.25
