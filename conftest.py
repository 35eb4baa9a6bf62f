"""Nothing that an installed user needs: options, marks and fixtures come from the plugin, `holdfast.harness.plugin`."""
