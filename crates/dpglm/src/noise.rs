//! Where randomness enters.
