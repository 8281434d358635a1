"""The benchmark and the paper's experiments: frozen configurations, runs, tables and figures."""
