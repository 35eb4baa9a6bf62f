"""The site: where the engine runs. What is plugged in here, the services that the user named, machine and processes.

Rules of this package: only here is read what is installed, what the machine has and what the environment states;
nothing is imported, opened or started before it is needed; what is missing is reported in one sentence with what to do
about it.
"""
