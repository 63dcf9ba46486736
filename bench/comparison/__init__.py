"""What bench/compare and its neighbours are made of: what is run (workloads,
modes, peers), how one run is measured (processes), in which order (rounds), and
how it is reported (tables, bars, results_file)."""
