"""Is it any good? Question sets, runs and their figures."""
