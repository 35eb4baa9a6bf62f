"""The site: where the engine runs. What is plugged in here, the services that the user named, machine and processes.

Rules of this package: only here is it asked what is installed, what the machine has and what the environment says;
nothing is imported, opened or started before it is wanted; what is lacking is said in one sentence with what to do
about it.
"""
