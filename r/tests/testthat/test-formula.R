# Terms: what R hands to the library, and fits beside R's own models.

FRAME <- local({
  set.seed(11)
  n <- 300
  frame <- data.frame(a = round(runif(n, -2, 3), 2), b = round(runif(n, 1, 6), 2), f = sample(c("u", "v", "w"), n, TRUE), g = sample(c("p", "q"), n, TRUE))
  frame$y <- round(pmin(pmax(frame$a + frame$b / 2 + (frame$f == "v") * frame$a + rnorm(n), 0), 10), 3)
  frame
})
LIMITS <- dp_bounds(y = c(0, 10), a = c(-2, 3), b = c(1, 6), f = c("u", "v", "w"), g = c("p", "q"))

exact <- function(formula, frame = FRAME, ...) quietly(dp_lm(formula, frame, LIMITS, NULL, NULL, method = "reference", ...))

# Without noise: every coefficient is that of the column of R's own of this name.
beside_r <- function(formula, frame = FRAME) {
  found <- coef(exact(formula, frame))
  names(found) <- gsub("[= ]", "", names(found))
  levelled <- transform(frame, f = factor(f, c("u", "v", "w")), g = factor(g, c("p", "q")))
  theirs <- coef(stats::lm(formula, levelled))
  names(theirs) <- gsub(" ", "", names(theirs))
  expect_setequal(names(found), names(theirs))
  expect_equal(found, theirs[names(found)], tolerance = 1e-4, info = deparse1(formula))
  length(found)
}

text_of_this <- function(formula) read_formula(formula, unclass(LIMITS), NULL, NULL)$text

test_that("terms hold what R's own model matrices hold", {
  expect_equal(beside_r(y ~ a + b), 3)
  expect_equal(beside_r(y ~ a * b), 4)
  expect_equal(beside_r(y ~ a * f), 6)
  expect_equal(beside_r(y ~ f * g), 6)
  # Without its margin a factor has a column for each level.
  expect_equal(beside_r(y ~ a:f), 4)
  expect_equal(beside_r(y ~ f + f:a), 6)
  expect_equal(beside_r(y ~ 0 + f + a), 4)
  expect_equal(beside_r(y ~ f * g - 1), 6)
  expect_equal(beside_r(y ~ a - 1), 1)
  expect_equal(beside_r(y ~ I(a^2) + log(b) + I(exp(a) / b) + sqrt(b) + I(-a^3) + I(1 / b^2)), 7)
  expect_equal(beside_r(y ~ (a + b)^2 - a), 3)
  expect_equal(beside_r(y ~ b / a), 3)
  expect_equal(beside_r(y ~ .), 6)
  expect_equal(beside_r(log1p(y) ~ pmin(a, b) + pmax(a, 0)), 3)
})

test_that("a formula is handed over as it is written", {
  expect_null(text_of_this(y ~ a + f))
  expect_null(text_of_this(y ~ . - g))
  expect_null(text_of_this(factor(g) ~ a + as.factor(f)))
  expect_identical(text_of_this(y ~ log(a) * f), "y ~ log(a) * f")
  expect_identical(text_of_this(y ~ I(-(a - 1)^-2 / (b * 3)) - 1), "y ~ I(-(a - 1)^-2 / (b * 3)) - 1")
  expect_identical(text_of_this(log(y) ~ factor(f):a + f + a), "log(y) ~ C(f):a + f + a")
  expect_error(text_of_this(y ~ ns(b, knots = c(1 / 3, 2))), "written out")
  expect_identical(text_of_this(y ~ splines::ns(b, knots = c(2, 1e-17), Boundary.knots = c(1, 6))), "y ~ ns(b, knots=[2, 1e-17], boundary=[1, 6])")
  expect_identical(text_of_this(y ~ expm1(a) + offset(log(b))), "y ~ I(exp(a) - 1)")
  expect_identical(text_of_this(y ~ (a + f)^2), "y ~ a + f + a:f")
  # Numbers and operations that were put into a formula keep their meaning.
  x <- 0.1 + 0.2
  put <- eval(bquote(y ~ I(a * .(x)) + ns(b, knots = .(c(2, 3)))))
  expect_identical(text_of_this(put), "y ~ I(a * 0.30000000000000004) + ns(b, knots=[2, 3])")
  product <- call("~", quote(y), call("I", call("*", quote(a + b), call("-", quote(a), quote(b - a)))))
  expect_identical(text_of_this(stats::as.formula(product)), "y ~ I((a + b) * (a - (b - a)))")
})

test_that("cells out of bounds are clamped before anything is computed", {
  frame <- FRAME
  frame$a[1:3] <- c(-100, NA, 1e300)
  frame$b[4:6] <- c(-5, 0, Inf)
  clamped <- transform(frame, a = ifelse(is.na(a), 0.5, pmin(pmax(a, -2), 3)), b = ifelse(is.finite(b), pmin(pmax(b, 1), 6), 3.5))
  expect_equal(coef(exact(y ~ exp(a) + log(b), frame)), coef(exact(y ~ exp(a) + log(b), clamped)))
})

test_that("what would need the rows themselves is refused, with the way out", {
  refused <- function(formula, words) expect_error(exact(formula), words, class = "dpglm_usage_error", info = deparse1(formula))
  for (formula in list(y ~ scale(a), y ~ poly(a, 2), y ~ splines::bs(a), y ~ ns(a, df = 3), y ~ I(a - mean(a)), y ~ cut(a, 3), y ~ a + ave(b))) {
    refused(formula, "formula")
  }
  refused(y ~ ns(a, knots = quantile(a)), "written out")
  expect_error(exact(y ~ a + other), "no bounds for column `other`", class = "dpglm_error")
  refused(y ~ factor(a), "has no levels")
  refused(y ~ log(a), "not defined on all of the declared bounds")
  refused(y ~ I(1 / a), "may divide by 0")
  refused(y ~ I(f + 1), "has levels and is no number")
  refused(~a, "no response")
  refused(y ~ 1, "no columns")
  refused(y ~ a + offset(b), "offset")
  refused(y ~ I(a^b), "exponent must be a number")
  refused(y ~ a + y, "both sides")
  refused(I(a > 1) ~ b, "operation `>`")
  refused(y ~ f:g, "write `f \\* g`")
  refused(y ~ log(b) + log1p(y), "both sides")
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
