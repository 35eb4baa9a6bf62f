"""Plans from outside: checked before anything is started, fitted to a system, and put in words.

Rules of this package: nothing is executed, and only `fit_to_system` changes a plan. A refusal names the field, its
value and what is allowed; what a system does not declare is not applicable, and not wrong.
"""
