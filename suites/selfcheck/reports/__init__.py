"""The reports on trial: journals made by hand, and what every output must say of them."""
