//! C21: *The cost of privacy: optimal rates of convergence for parameter estimation with differential privacy*.
