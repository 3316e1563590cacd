library(testthat)
library(dpglm)

test_check("dpglm")
