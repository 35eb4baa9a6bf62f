from setuptools import find_namespace_packages, setup

TOP = ("harness", "faults", "fixtures", "suites", "reports")
BELOW = [f"{top}.{name}" for top in TOP for name in find_namespace_packages(top)]
setup(packages=[f"holdfast.{name}" for name in (*TOP, *BELOW)])
