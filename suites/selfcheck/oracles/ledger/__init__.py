"""The ledger of the oracles on trial: each field holds what it must, and a field that is wrong is noticed.

A new field is one line in its area in `harness/oracles/ledger`. `test_fields.py` tells it a history of its own, with
none, one and two events of a thing, out of order, and of another attempt or job. `test_sabotage.py` spoils it in every
way that its readers could notice (`sabotage.py`), and expects that an exhibit in `oracles/histories` is then judged
wrongly, or that its clause has nothing to decide any more. A new area is a line in `sabotage.AREAS`, and in
`test_fields.HISTORIES` the function that tells such a history.
"""
