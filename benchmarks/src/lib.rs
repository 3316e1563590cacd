//! Benchmarks of dpglm beside its peers. Read ratios within one run: machines differ and are noisy.
