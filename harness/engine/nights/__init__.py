"""Nights: the certificates of several systems from one seed, what somebody set aside, and how two nights differ.

Rules of this package: a night runs nothing that a certificate does not run, and a waiver changes what fails a night,
never what is listed.
"""
