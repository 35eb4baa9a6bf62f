"""Nothing that an installed user needs: options, marks and fixtures come from the plugin, `holdfast.harness.plugin`."""

from hypothesis import HealthCheck, settings

# How fast examples are drawn says something of the machine, not of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
