from setuptools import find_namespace_packages, setup

TOP = ("harness", "faults", "fixtures", "suites", "reports")
setup(packages=[f"holdfast.{top}" for top in TOP] + [f"holdfast.{top}.{name}" for top in TOP for name in find_namespace_packages(top)])
