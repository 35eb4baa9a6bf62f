"""Plans as somebody wrote them: checked before anything is started, named by a digest, put in words.

Rules of this package: nothing is executed, and no plan is changed. A refusal names the field, its value and what is
allowed; what a system does not declare is not applicable, and not wrong.
"""
