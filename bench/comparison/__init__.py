"""What bench/compare and its neighbours are made of: what is run (workloads,
modes, peers), how one run is measured (processes), in which order (rounds), and
what is told of it (tables, bars, results_file)."""
