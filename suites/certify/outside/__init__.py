"""How kits attack from outside what stores files: checkpoint storages, and file systems.

Other processes die or stand still at any call (`victims`), a relay loses requests and answers, and bits change where
files lie (`location`). What cannot be reached so, a check says. Nothing here shares code with what is certified.
"""
