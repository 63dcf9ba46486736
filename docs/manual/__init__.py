"""What docs/make_man consists of."""
