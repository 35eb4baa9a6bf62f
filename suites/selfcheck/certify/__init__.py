"""The kits of `suites/certify` on trial, and the contracts that they judge."""
