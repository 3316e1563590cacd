# Terms, their names, bounds and values, beside R's own model matrices.

columns_of <- function(formula, bounds, data, missing = "fill") {
  bounds <- unclass(bounds)
  columns_of_terms(read_formula(formula, bounds, NULL), Reader(bounds, data, missing = missing))
}

values_of <- function(columns) {
  structure(lapply(columns, `[[`, "cells"), names = vapply(columns, `[[`, "", "name"))
}

FRAME <- data.frame(
  y = c(1, 2, 3, 4, 5, 6), a = c(-2, -1, 0, 1, 2, 3), b = c(1, 2, 3, 4, 5, 6), f = c("u", "v", "w", "u", "v", "w"), g = rep(c("p", "q"), 3)
)
LIMITS <- dp_bounds(y = c(0, 10), a = c(-2, 3), b = c(1, 6), f = c("u", "v", "w"), g = c("p", "q"))

# The same with R's own contrasts: numbers alone, because levels by themselves are encoded with the table.
beside_r <- function(formula) {
  found <- values_of(columns_of(formula, LIMITS, FRAME))
  found <- found[vapply(found, is.numeric, TRUE)]
  frame <- transform(FRAME, f = factor(f, c("u", "v", "w")), g = factor(g, c("p", "q")))
  theirs <- stats::model.matrix(formula, frame)
  for (name in names(found)) {
    r_name <- gsub("=", "", name)
    expect_true(r_name %in% colnames(theirs), info = paste(name, paste(colnames(theirs), collapse = ", ")))
    expect_equal(unname(found[[name]]), unname(theirs[, r_name]), info = name)
  }
  length(found)
}

test_that("terms hold what R's own model matrices hold", {
  expect_equal(beside_r(y ~ a + b), 2)
  expect_equal(beside_r(y ~ a * b), 3)
  expect_equal(beside_r(y ~ a * f), 3)
  # Without its margin a factor has a column for each level.
  expect_equal(beside_r(y ~ a:f), 3)
  expect_equal(beside_r(y ~ 0 + f + a), 4)
  expect_equal(beside_r(y ~ f * g), 2)
  expect_equal(beside_r(y ~ f:g), 6)
  expect_equal(beside_r(y ~ I(a^2) + log(b) + I(exp(a) / b) + sqrt(b + 1) + I(-a^3) + I(1 / b^2)), 6)
  expect_equal(beside_r(y ~ (a + b)^2 - a), 2)
  expect_equal(beside_r(y ~ .), 2)
})

test_that("bounds hold for every row within those of the columns", {
  set.seed(4)
  data <- data.frame(y = 0, a = runif(500, -2, 3), b = runif(500, 1, 6))
  limits <- dp_bounds(y = c(0, 10), a = c(-2, 3), b = c(1, 6))
  formula <- y ~ I(a^2) + a:b + I(a^3 - b) + exp(a) + I(abs(a) / b) + log1p(b) + I(b^-2) + I(b^0.5) + I((a - 1)^2 * b)
  for (column in columns_of(formula, limits, data)) {
    bounds <- unclass(column$declared$bounds)
    values <- eval(parse(text = gsub(":", "*", column$name))[[1]], data)
    expect_true(all(values >= bounds[1] - 1e-12 & values <= bounds[2] + 1e-12), info = column$name)
  }
})

test_that("cells out of bounds are clamped before anything is computed", {
  data <- data.frame(y = 0, a = c(-100, NA, Inf, 1e300), b = c(-5, 0, NaN, 3))
  limits <- dp_bounds(y = c(0, 10), a = c(-2, 3), b = c(1, 6))
  found <- values_of(columns_of(y ~ exp(a) + log(b), limits, data))
  expect_equal(found[["exp(a)"]], exp(c(-2, 0.5, 0.5, 3)))
  expect_equal(found[["log(b)"]], log(c(1, 1, 3.5, 3)))
  dropped <- values_of(columns_of(y ~ exp(a) + I(a * b), limits, data, missing = "drop"))
  expect_equal(is.na(dropped[["exp(a)"]]), c(FALSE, TRUE, TRUE, FALSE))
})

test_that("what would need the rows themselves is refused, with the way out", {
  for (formula in list(y ~ scale(a), y ~ poly(a, 2), y ~ splines::bs(a), y ~ I(a - mean(a)), y ~ cut(a, 3), y ~ a + ave(b))) {
    expect_error(columns_of(formula, LIMITS, FRAME), "public numbers", class = "dpglm_usage_error")
  }
  expect_error(columns_of(y ~ a + other, LIMITS, FRAME), "no bounds for column `other`", class = "dpglm_error")
  expect_error(columns_of(y ~ factor(a), LIMITS, FRAME), "levels are declared")
  expect_error(columns_of(y ~ log(a), LIMITS, FRAME), "not defined on all of the declared bounds")
  expect_error(columns_of(y ~ I(1 / a), LIMITS, FRAME), "may divide by 0")
  expect_error(columns_of(y ~ I(f + 1), LIMITS, FRAME), "has levels and is no number")
  expect_error(columns_of(~a, LIMITS, FRAME), "no response")
  expect_error(columns_of(log(y) ~ a, LIMITS, FRAME), "must be a column")
  expect_error(columns_of(y ~ 1, LIMITS, FRAME), "no columns")
  expect_error(columns_of(y ~ a + offset(b), LIMITS, FRAME), "offset")
  expect_error(columns_of(y ~ I(a^b), LIMITS, FRAME), "one row at a time")
})

test_that("levels and bounds never come from the rows", {
  frame <- people()
  frame$sex <- factor(frame$sex)
  expect_error(dp_glm(income ~ age + sex, frame, binomial(), dp_bounds(age = c(17, 90)), 1, 1e-6), "no bounds for column `sex`")
  expect_error(dp_bounds(sex = frame$sex), "no declaration")
  # A level that nobody has, and one that nobody declared.
  wide <- dp_bounds(age = c(17, 90), sex = c("Female", "Male", "Other"))
  fit <- quietly(dp_glm(income ~ age + sex, frame, binomial(), wide, 1, 1e-6))
  expect_true("sex=Other" %in% names(coef(fit)))
  levels(frame$sex) <- c("Female", "unknown")
  fit <- quietly(dp_glm(income ~ age + sex, frame, binomial(), wide, 1, 1e-6))
  expect_false(any(grepl("unknown", names(coef(fit)))))
})
