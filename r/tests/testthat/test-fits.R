test_that("a fit answers what R's users ask", {
  fit <- fitted_people()
  expect_named(coef(fit), c("(Intercept)", "age", "sex=Male"))
  ends <- confint(fit)
  expect_equal(dim(ends), c(3, 2))
  expect_true(all(ends[, 1] < coef(fit) & coef(fit) < ends[, 2]))
  expect_equal(colnames(ends), c("2.5 %", "97.5 %"))
  expect_equal(dim(confint(fit, "age")), c(1, 2))
  expect_equal(nobs(fit), 3000)
  variances <- vcov(fit)
  expect_true(isSymmetric(variances) && all(eigen(variances)$values > 0))
  # Far from zero, the intercept and a slope are at odds.
  expect_lt(stats::cov2cor(variances)["(Intercept)", "age"], -0.5)
  expect_equal(sqrt(diag(variances)), vapply(fit$document$standard_errors, as.double, 0))
  expect_output(print(fit), "Logistic model of income")
  expect_output(print(summary(fit)), "fixed seed")
  expect_true(all(c("std.error", "conf.low") %in% names(summary(fit)$coefficients)))
  expect_equal(summary(fit)$coefficients["age", "std.error"], sqrt(variances["age", "age"]))
  expect_equal(family(fit)$family, "binomial")
  expect_equal(formula(fit), income ~ age + sex, ignore_formula_env = TRUE)
  # Near what the rows were drawn from: within five standard errors.
  expect_true(all(abs(coef(fit) - c(-2, 0.03, 0.7)) < 5 * sqrt(diag(variances))))
})

test_that("predictions are those of the shrunk coefficients", {
  fit <- fitted_people()
  rows <- data.frame(age = c(30, 60, 200, NA), sex = c("Male", "Female", "Male", "none"))
  b <- coef(fit, "prediction")
  eta <- b[[1]] + b[[2]] * c(30, 60, 90, 53.5) + b[[3]] * c(1, 0, 1, 0)
  expect_equal(predict(fit, rows), stats::plogis(eta))
  expect_equal(predict(fit, rows, type = "link"), eta)
  expect_error(predict(fit), "newdata is needed")
  expect_error(predict(fit, data.frame(age = 3)), "no column `sex`")
  several <- quietly(dp_glm(work ~ age, people(), "multinomial", BOUNDS, 1, 1e-6, intervals = NULL))
  found <- predict(several, rows["age"])
  expect_equal(dim(found), c(4, 3))
  expect_equal(rowSums(found), rep(1, 4))
  expect_equal(dim(predict(several, rows["age"], type = "link")), c(4, 2))
})

test_that("terms of formulas predict as they were fitted", {
  frame <- people()
  fit <- quietly(dp_lm(visits ~ I(age^2) + age:sex + log(age) + work, frame, BOUNDS, epsilon = Inf, delta = NULL, intervals = NULL))
  b <- coef(fit)
  expect_named(b, c("(Intercept)", "I(age^2)", "log(age)", "work=State", "work=Self", "age:sex=Female", "age:sex=Male"), ignore.order = TRUE)
  age <- frame$age
  eta <- b[["(Intercept)"]] + b[["I(age^2)"]] * age^2 + b[["log(age)"]] * log(age) + b[["work=State"]] * (frame$work == "State") +
    b[["work=Self"]] * (frame$work == "Self") + age * ifelse(frame$sex == "Male", b[["age:sex=Male"]], b[["age:sex=Female"]])
  expect_equal(predict(fit, frame), unname(eta), tolerance = 1e-6)
  again <- unserialize(serialize(fit, NULL))
  expect_equal(predict(again, frame), predict(fit, frame))
})

test_that("without noise and penalty it is R's own fit", {
  frame <- people()
  frame$visits <- pmin(frame$visits, 9)
  frame$income2 <- frame$income == 1
  exact <- function(formula, family) {
    dp_glm(formula, frame, family, BOUNDS, epsilon = NULL, delta = NULL, method = "reference")
  }
  expect_equal(unname(coef(exact(visits ~ age + sex, gaussian))), unname(coef(stats::lm(visits ~ age + sex, frame))), tolerance = 1e-6)
  expect_equal(
    unname(coef(exact(visits ~ age + sex, poisson()))), unname(coef(stats::glm(visits ~ age + sex, stats::poisson(), frame))),
    tolerance = 1e-4
  )
  expect_equal(
    unname(coef(exact(income2 ~ age * sex, "binomial"))), unname(coef(stats::glm(income ~ age * sex, stats::binomial(), frame))),
    tolerance = 1e-4
  )
})

test_that("exposures are offsets", {
  set.seed(3)
  frame <- data.frame(x = runif(4000), years = runif(4000, 0.5, 3))
  frame$count <- rpois(4000, frame$years * exp(0.5 + frame$x))
  bounds <- dp_bounds(x = c(0, 1), years = c(0.1, 3), count = c(0, 30))
  fit <- quietly(dp_glm(count ~ x + offset(log(years)), frame, poisson(), bounds, NULL, NULL, method = "reference"))
  theirs <- stats::glm(count ~ x + offset(log(years)), stats::poisson(), frame)
  expect_equal(unname(coef(fit)), unname(coef(theirs)), tolerance = 1e-3)
  expect_equal(predict(fit, frame), unname(stats::fitted(theirs)), tolerance = 1e-3)
  # An offset is a part of the link, as of R's own.
  expect_equal(exp(predict(fit, frame, type = "link")), predict(fit, frame))
  expect_equal(predict(fit, frame, type = "link"), unname(stats::predict(theirs)), tolerance = 1e-3)
  dotted <- quietly(dp_glm(count ~ . + offset(log(years)), frame, poisson(), bounds, NULL, NULL, method = "reference"))
  expect_equal(coef(dotted), coef(fit))
})

test_that("covariances are those of each level, of few columns, and of one", {
  errors <- function(fit) vapply(fit$document$standard_errors, as.double, 0)
  several <- quietly(dp_glm(work ~ age + sex, people(), "multinomial", BOUNDS, 2, 1e-6))
  variances <- vcov(several)
  expect_equal(sqrt(diag(variances)), errors(several))
  expect_equal(is.na(variances), kronecker(1 - diag(2), matrix(1, 3, 3)) == 1, ignore_attr = TRUE)
  few <- quietly(dp_glm(income ~ ., people(), binomial(), BOUNDS, 4, 1e-6, sparsity = 2, intervals = 0.9))
  expect_equal(sqrt(diag(vcov(few))), errors(few))
  expect_false(anyNA(vcov(few)))
  one <- quietly(dp_lm(visits ~ age - 1, people(), BOUNDS, 2, 1e-6))
  expect_equal(c(vcov(one)), unname(errors(one))^2)
})

test_that("each family is R's own, without noise", {
  frame <- people()
  frame$hours <- pmin(stats::rgamma(3000, 2, 2 / exp(0.5 + 0.01 * frame$age)), 30)
  bounds <- BOUNDS
  bounds$hours <- c(0.001, 30)
  families <- list(stats::Gamma(link = "log"), binomial("probit"), binomial("cloglog"), stats::quasipoisson())
  responses <- c("hours", "income", "income", "visits")
  for (place in seq_along(families)) {
    formula <- stats::reformulate(c("age", "sex"), responses[place])
    fit <- quietly(dp_glm(formula, frame, families[[place]], bounds, Inf, NULL, intervals = NULL))
    theirs <- stats::glm(formula, families[[place]], frame)
    expect_equal(unname(coef(fit)), unname(coef(theirs)), tolerance = 0.02, info = responses[place])
    expect_equal(family(fit)[c("family", "link")], families[[place]][c("family", "link")])
    expect_equal(predict(fit, frame), unname(stats::fitted(theirs)), tolerance = 0.02)
    if (place == 4) expect_equal(summary(fit)$dispersion, summary(theirs)$dispersion, tolerance = 0.1)
  }
})

test_that("weights are those of a survey", {
  frame <- people()
  frame$w <- ifelse(frame$sex == "Male", 5, 1)
  bounds <- dp_bounds(age = c(17, 90), visits = c(0, 9), w = c(0, 10))
  fit <- function(...) quietly(dp_lm(visits ~ age, frame, ..., epsilon = 1, delta = 1e-6, insecure_seed = 2))
  named <- quietly(dp_lm(visits ~ age, frame, bounds, 1, 1e-6, weights = w, insecure_seed = 2))
  expect_identical(coef(fit(bounds, weights = "w")), coef(named))
  expect_identical(coef(fit(BOUNDS, weights = frame$w, weight_bounds = c(0, 10))), coef(named))
  expect_false(identical(coef(fit(BOUNDS)), coef(named)))
  computed <- quietly(dp_lm(visits ~ log(age) + ., frame, bounds, Inf, NULL, weights = w, intervals = NULL))
  theirs <- stats::lm(pmin(visits, 9) ~ log(age) + age, frame, weights = w)
  expect_equal(predict(computed, frame), unname(stats::fitted(theirs)), tolerance = 1e-3)
  # The dot is all features, and weights are none.
  expect_named(coef(quietly(dp_lm(visits ~ ., frame, bounds, 1, 1e-6, weights = w))), c("(Intercept)", "age"))
  expect_length(predict(named, frame["age"]), 3000)
  exact <- quietly(dp_lm(visits ~ age, frame, bounds, Inf, NULL, weights = w, intervals = NULL))
  expect_equal(unname(coef(exact)), unname(coef(stats::lm(pmin(visits, 9) ~ age, frame, weights = w))), tolerance = 1e-3)
  x <- as.matrix(frame["age"])
  wide <- function(...) {
    quietly(dp_glm_matrix(x, frame$visits, bounds = c(17, 90), response = c(0, 9), epsilon = 1, delta = 1e-6, ..., insecure_seed = 2))
  }
  expect_false(identical(coef(wide(weights = frame$w, weight_bounds = c(0, 10))), coef(wide())))
  planned <- dp_dry_run(visits ~ age, 3000, gaussian(), BOUNDS, 1, 1e-6, weight_bounds = c(0, 10))
  expect_equal(noise_of(planned), noise_of(certificate(named)))
})

test_that("weights are of each row by itself", {
  frame <- people()
  frame$w <- ifelse(frame$sex == "Male", 5, 1)
  # As if it stood in the call: what comes through dots was computed before.
  fit <- function(weights) {
    asked <- substitute(
      dp_lm(visits ~ age, frame, BOUNDS, 1, 1e-6, weights = written, weight_bounds = c(0, 10), insecure_seed = 2), list(written = substitute(weights))
    )
    coef(quietly(eval(asked, parent.frame())))
  }
  scale <- 2
  wanted <- fit(weights = frame$w / 2)
  expect_identical(fit(weights = w / scale), wanted)
  expect_identical(fit(weights = frame[["w"]] / 2), wanted)
  expect_identical(fit(weights = ifelse(sex == "Male", 5 / scale, exp(log(1)) / max(2, 1))), wanted)
  expect_identical(fit(weights = pmin(w, 10) / scale), wanted)
  expect_identical(fit(weights = rep(1, nrow(frame))), fit(weights = w * 0 + 1))
  # One row in a mean would change what is added for all others.
  refused <- function(said, weights) {
    asked <- substitute(fit(weights = written), list(written = substitute(weights)))
    expect_error(eval(asked, parent.frame()), said, class = "dpglm_usage_error", fixed = TRUE)
  }
  refused("`mean()` may look at several rows at once", weights = w / mean(w))
  refused("`mean()` may look", weights = frame$w / mean(frame$w))
  refused("`sum()` may look", weights = w / (1 + sum(frame[["w"]])))
  refused("`scale()` may look", weights = pmax(scale(w), 0))
  refused("`rank()` may look", weights = rank(age))
  refused("`if()` may look", weights = if (max(w) > 2) w else 1)
  refused("`with()` may look", weights = with(frame, w / mean(w)))
  refused("`[()` may look", weights = w[order(w)])
  refused("`ifelse()` may look", weights = ifelse(TRUE, w, 1) + 0 * w)
  refused("a function may look", weights = (function(x) x / mean(x))(w))
  refused("a function may look", weights = w / stats::median(w))
  # What R says of an error may hold a cell.
  frame$w[7] <- 4711
  said <- expect_error(fit(weights = w + as.double(as.name("secret"))), class = "dpglm_usage_error")
  expect_match(conditionMessage(said), "this cannot be computed", fixed = TRUE)
  expect_match(conditionMessage(expect_error(fit(weights = nowhere))), "there is no column or value `nowhere`", fixed = TRUE)
  # A warning of one cell is none, whatever options say.
  old <- options(warn = 2)
  on.exit(options(old))
  frame$w[7] <- -1
  expect_length(fit(weights = sqrt(w)), 2)
  expect_error(
    dp_survival(~age, frame, time = visits / mean(visits), event = income, cuts = 1, bounds = BOUNDS, epsilon = 1, delta = 1e-6),
    "time: `mean()` may look",
    fixed = TRUE
  )
  expect_error(dp_mean(frame, BOUNDS, 1, 1e-6, weights = names(frame)[which.max(age)]), "may look", fixed = TRUE)
})

test_that("integers of 64 bits are read as any others are", {
  # Bits of package bit64, without it: twos to the power of 32 and of 0.
  wide <- function(x) {
    bits <- as.vector(rbind(x %% 2^32, floor(x / 2^32)))
    bits <- suppressWarnings(as.integer(ifelse(bits >= 2^31, bits - 2^32, bits)))
    structure(readBin(writeBin(bits, raw(), endian = "little"), "double", length(x), endian = "little"), class = "integer64")
  }
  frame <- people()
  frame$id <- rep(1:1000, 3)
  frame$w <- rep(1:3, 1000)
  fit <- function(frame) {
    bounds <- c(BOUNDS, dp_bounds(w = c(0, 4)))
    quietly(dp_glm(income ~ age + visits, frame, binomial(), bounds, 1, 1e-6, unit = "id", weights = w, insecure_seed = 3, intervals = NULL))
  }
  wanted <- coef(fit(frame))
  long <- transform(frame, id = NULL, w = NULL, visits = NULL)
  long$id <- wide(frame$id)
  long$w <- wide(frame$w)
  long$visits <- wide(frame$visits)
  expect_identical(coef(fit(long)), wanted)
  # A missing one is the least.
  long$visits <- wide(ifelse(seq_along(frame$visits) == 5, -2^63, frame$visits))
  frame$visits[5] <- NA
  expect_identical(coef(fit(long)), coef(fit(frame)))
  # Digits that doubles do not hold tell people apart.
  long$id <- structure(2 + frame$id * 2^-51, class = "integer64")
  expect_equal(nobs(fit(long)), 1000)
  expect_error(
    dp_lm(visits ~ age, long, BOUNDS, 1, 1e-6, weights = w / 2, weight_bounds = c(0, 2)), "integer64",
    class = "dpglm_usage_error"
  )
})

test_that("what is missing can be a column of its own", {
  frame <- people()
  frame$age[1:900] <- NA
  fit <- quietly(dp_glm(income ~ age + work, frame, binomial(), BOUNDS, 1, 1e-6, missing = "indicator"))
  expect_true(all(c("age=missing", "work=missing") %in% names(coef(fit))))
  b <- coef(fit, "prediction")
  found <- predict(fit, data.frame(age = c(30, NA), work = "Private"), type = "link")
  expect_equal(found, b[["(Intercept)"]] + c(30, 53.5) * b[["age"]] + c(0, 1) * b[["age=missing"]])
  planned <- dp_dry_run(income ~ age + work, 3000, binomial(), BOUNDS, 1, 1e-6, missing = "indicator")
  expect_equal(noise_of(planned), noise_of(certificate(fit)))
  computed <- quietly(dp_glm(income ~ log(age) + work, frame, binomial(), BOUNDS, 1, 1e-6, missing = "indicator"))
  expect_true(all(c("log(age)", "age=missing") %in% names(coef(computed))))
})

test_that("units, sparsity and magnitudes work", {
  frame <- people()
  frame$id <- paste0("p", rep(1:1000, 3))
  fit <- quietly(dp_lm(visits ~ age, frame, BOUNDS, 1, 1e-6, intervals = NULL, unit = "id"))
  expect_equal(nobs(fit), 1000)
  expect_match(certificate(fit)$text, "all rows of any one id", fixed = TRUE)
  sparse <- quietly(dp_glm(income ~ ., frame, binomial(), BOUNDS, 4, 1e-6, sparsity = 1))
  expect_length(sparse$document$support, 1)
  bounds <- BOUNDS
  bounds$age <- dp_magnitude(1e4, 1)
  found <- quietly(dp_glm(income ~ age, frame, binomial(), bounds, 2, 1e-6))
  ends <- found$document$bounds$age
  expect_true(ends[1] < 30 && ends[2] > 70 && ends[2] < 1e4)
  expect_length(predict(found, frame), 3000)
})

test_that("sparse matrices stay sparse and give what dense ones give", {
  skip_if_not_installed("Matrix")
  set.seed(5)
  x <- Matrix::rsparsematrix(2000, 40, 0.1, rand.x = function(n) round(runif(n, -1, 1), 3))
  y <- as.logical(as.vector(x[, 3] * 6 + rnorm(2000)) > 0)
  fit <- function(x) quietly(dp_glm_matrix(x, y, binomial(), c(-1, 1), epsilon = 2, delta = 1e-6, sparsity = 3, insecure_seed = 1))
  one <- fit(x)
  expect_true("x2" %in% unlist(one$document$support))
  dense <- quietly(dp_glm_matrix(as.matrix(x), y, binomial(), c(-1, 1), epsilon = 2, delta = 1e-6, sparsity = 3, insecure_seed = 1))
  expect_true("x2" %in% unlist(dense$document$support))
  expect_equal(predict(one, x), predict(one, as.matrix(x)))
  mean <- dp_mean(x, c(-1, 1), epsilon = 1, delta = 1e-6)
  expect_length(coef(mean), 40)
})

test_that("what cells hold makes no error", {
  frame <- people(400)
  frame$age[1:5] <- c(NA, Inf, -Inf, NaN, 1e300)
  frame$sex[1:3] <- c(NA, "\xff\xfe", "")
  frame$income[7] <- NA
  fit <- quietly(dp_glm(income ~ age + sex, frame, binomial(), BOUNDS, 1, 1e-6))
  expect_equal(nobs(fit), 400)
  expect_message(dp_glm(income ~ age, frame, binomial(), BOUNDS, 1, 1e-6), class = "dpglm_curator_note")
  expect_error(quietly(dp_glm(income ~ age, frame, binomial(), BOUNDS, 1, 1e-6, strict = TRUE)), class = "dpglm_error")
  frame$age[1:5] <- 30
  expect_silent(dp_glm(income ~ age, frame[-7, ], binomial(), dp_bounds(age = c(17, 90)), 1, 1e-6))
})

test_that("what depends on cells is a note to the curator, never a warning or an error", {
  frame <- people(400)
  frame$sex <- "m"
  ledger <- dp_ledger_create(tempfile(fileext = ".ledger"), epsilon = 9, delta = 1e-4)
  fit <- function() dp_glm(sex ~ age, frame, binomial(), BOUNDS, 1, 1e-6, ledger = ledger)
  said <- said_by(fit())
  of_labels <- Filter(function(condition) grepl("no row has a declared level", conditionMessage(condition)), said)
  expect_length(of_labels, 1)
  expect_s3_class(of_labels[[1]], "dpglm_curator_note")
  expect_false(any(vapply(said, inherits, TRUE, "warning")))
  # Under these options the fit, which the ledger paid for, was lost.
  kept <- options(warn = 2)
  on.exit(options(kept))
  expect_s3_class(quietly(fit()), "dp_fit")
})

test_that("notes are said: those of public numbers to all, those of cells to the curator", {
  frame <- people(400)
  frame$copy <- frame$age
  bounds <- c(BOUNDS, dp_bounds(copy = c(17, 90)))
  ledger <- dp_ledger_create(tempfile(fileext = ".ledger"), epsilon = 90, delta = 1e-4)
  said <- said_by(dp_glm(income ~ age + copy, frame, binomial(), bounds, 20, 1e-6, ledger = ledger))
  words <- vapply(said, conditionMessage, "")
  head <- said[[grep("Its head is now", words)]]
  expect_s3_class(head, "dpglm_note")
  expect_match(conditionMessage(head), summary(ledger)$head, fixed = TRUE)
  alike <- said[[grep("nearly the same column twice", words)]]
  expect_s3_class(alike, "dpglm_curator_note")
  expect_match(conditionMessage(alike), "^note for the curator, not for publication: nearly")
  undetermined <- said_by(dp_glm(income ~ ., frame, binomial(), BOUNDS, 0.01, 1e-6))
  expect_true(any(vapply(undetermined, function(note) inherits(note, "dpglm_note") && grepl("no coefficient can be determined", conditionMessage(note)), TRUE)))
})

test_that("a rendered page has no notes to the curator", {
  skip_if_not_installed("knitr")
  page <- tempfile(fileext = ".Rmd")
  writeLines(c(
    "```{r}", "frame <- data.frame(age = c(200, runif(99, 20, 80)))",
    "mean <- dpglm::dp_mean(frame, dpglm::dp_bounds(age = c(17, 90)), 1, 1e-6)", "coef(mean)", "```"
  ), page)
  output <- tempfile(fileext = ".md")
  said <- utils::capture.output(invisible(knitr::knit(page, output, quiet = TRUE, envir = new.env())), type = "message")
  expect_false(any(grepl("curator", readLines(output))))
  expect_true(any(grepl("note for the curator", said)))
  expect_true(any(grepl("coef", readLines(output))))
})

test_that("a fit holds no row, wherever it was made", {
  secret <- 12345.678901
  inside <- function(how) {
    frame <- people(400)
    frame$age[1] <- secret
    quietly(how(frame, income ~ age))
  }
  found <- function(object) {
    bytes <- serialize(object, NULL, xdr = FALSE)
    needle <- writeBin(secret, raw())
    starts <- which(bytes == needle[1])
    any(vapply(starts, function(start) identical(bytes[start + 0:7], needle), TRUE))
  }
  fits <- list(
    inside(function(frame, formula) dp_glm(formula, frame, binomial(), BOUNDS, 1, 1e-6)),
    inside(function(frame, formula) {
      do.call(dp_glm, list(visits ~ sex, frame, gaussian(), BOUNDS, 1, 1e-6, weights = frame$age, weight_bounds = c(0, 90)))
    }),
    inside(function(frame, formula) do.call(dp_glm, list(formula, frame, binomial(), BOUNDS, 1, 1e-6))),
    # A closure, an attribute and what was written into a call keep the rows of the function that made them.
    inside(function(frame, formula) {
      family <- function() binomial()
      do.call(dp_glm, list(formula, frame, family, BOUNDS, 1, 1e-6))
    }),
    inside(function(frame, formula) do.call(dp_glm, list(formula, frame, "binomial", BOUNDS, structure(1, of = frame), 1e-6))),
    inside(function(frame, formula) eval(bquote(dp_glm(income ~ age, subset(.(frame), visits > 0), "binomial", BOUNDS, 1, 1e-6)))),
    inside(function(frame, formula) dp_glm(structure(formula, of = frame), frame, binomial(), BOUNDS, 1, 1e-6)),
    inside(function(frame, formula) dp_glm(income ~ log(age), frame, binomial(), BOUNDS, 1, 1e-6)),
    inside(function(frame, formula) do.call(dp_lm, list(visits ~ age, data = frame, bounds = BOUNDS, epsilon = 1, delta = 1e-6))),
    inside(function(frame, formula) do.call(dp_mean, list(frame, BOUNDS, 1, 1e-6))),
    inside(function(frame, formula) do.call(dp_describe, list(frame, BOUNDS, 1, 1e-6))),
    inside(function(frame, formula) do.call(dp_glm_matrix, list(as.matrix(frame["age"]), frame$visits, bounds = c(17, 90), response = c(0, 9), epsilon = 1, delta = 1e-6))),
    inside(function(frame, formula) do.call(dp_audit, list(frame, formula, binomial(), BOUNDS, 1, 1e-6, runs = 0)))
  )
  for (fit in fits) expect_false(found(fit), info = class(fit)[1])
  # The check itself can fail.
  expect_true(found(inside(function(frame, formula) frame)))
})

test_that("errors are conditions in R's words", {
  frame <- people(300)
  fails <- function(...) expect_error(quietly(dp_glm(income ~ age, frame, binomial(), BOUNDS, ...)), class = "dpglm_usage_error")
  expect_match(conditionMessage(fails(delta = 1e-6)), "epsilon is needed and has no default")
  expect_match(conditionMessage(fails(epsilon = 1)), "delta is needed and has no default")
  expect_match(conditionMessage(fails("one", 1e-6)), "epsilon must be a number")
  expect_match(conditionMessage(fails(1, 1e-6, sparsity = 2.5)), "sparsity must be a whole number")
  expect_match(conditionMessage(fails(1, 1e-6, weights = rep(1, 300))), "weights need public bounds")
  expect_match(conditionMessage(fails(1, 1e-6, weights = rep(1, 3), weight_bounds = c(0, 9))), "one number for each of 300 rows")
  expect_match(conditionMessage(fails(1, 1e-6, weights = "age", weight_bounds = c(0, 9))), "has bounds already")
  expect_match(conditionMessage(fails(1, 1e-6, weights = age, weight_bounds = NULL)), "in the formula too")
  expect_match(conditionMessage(fails(1, 1e-6, weight_bounds = c(0, 9))), "goes with weights")
  expect_match(conditionMessage(fails(1, 1e-6, weights = visits * -1, weight_bounds = c(-9, 0))), "at least 0")
  error <- fails(-1, 1e-6)
  expect_identical(as.character(conditionCall(error)[[1]]), "dp_glm")
  expect_error(dp_glm(income ~ age, frame, binomial(), epsilon = 1, delta = 1e-6), "public bounds are needed")
  expect_error(dp_glm(income ~ age, as.list(frame), binomial(), BOUNDS, 1, 1e-6), "must be a data frame")
  expect_error(dp_glm(income ~ age, frame, stats::Gamma(), BOUNDS, 1, 1e-6), "the link log here, got inverse: write Gamma(link = \"log\")", fixed = TRUE)
  expect_error(dp_glm(income ~ age, frame, "Gamma", BOUNDS, 1, 1e-6), "the link log here, got inverse: write Gamma(link = \"log\")", fixed = TRUE)
  expect_error(dp_glm(income ~ age, frame, binomial("cauchit"), BOUNDS, 1, 1e-6), "link logit or probit or cloglog")
  expect_error(dp_glm(income ~ age, frame, stats::quasibinomial(), BOUNDS, 1, 1e-6), "family quasibinomial is not there")
  expect_error(dp_glm(income ~ age, frame, binomial(), BOUNDS, 1, 1e-6, dispersion = TRUE), class = "dpglm_error")
  expect_error(dp_lm(visits ~ age, frame, BOUNDS, 1, 1e-6, family = poisson()), "linear regression")
  expect_error(dp_lm(visits ~ age, frame, dp_bounds(age = c(17, 90)), 1, 1e-6), "no bounds for the response")
  expect_error(dp_glm_matrix(matrix(0, 3, 2), 1:3, bounds = c(-1, 1), response = c(0, 3), epsilon = 1, delta = 1e-6, colour = 3), "unused argument colour")
  for (f in list(residuals, fitted, logLik, stats::AIC, stats::deviance, stats::weights)) {
    expect_error(f(fitted_people()), "not private", class = "dpglm_error")
  }
  expect_error(stats::df.residual(fitted_people()), "nobs", class = "dpglm_error")
  expect_error(stats::anova(fitted_people()), "nothing paid for", class = "dpglm_error")
  expect_error(predict(fitted_people(), frame, se.fit = TRUE), "se.fit is none of predict", class = "dpglm_usage_error")
  expect_error(predict(fitted_people(), frame, interval = "confidence"), "interval is none of predict", class = "dpglm_usage_error")
  wide <- function(...) dp_glm_matrix(matrix(0, 3, 2), 1:3, bounds = c(-1, 1), epsilon = 1, delta = 1e-6, ...)
  expect_error(wide(), "give response = c(LOW, HIGH)", fixed = TRUE)
  latin <- "caf\xe9"
  expect_error(dp_glm(income ~ age, frame, binomial(), dp_bounds(age = c(17, 90), income = c(latin, "b")), 1, 1e-6), "UTF-8", class = "dpglm_usage_error")
  file <- tempfile()
  writeBin(as.raw(c(0x7b, 0xff, 0xfe, 0x7d)), file)
  expect_error(dp_read(file), "UTF-8", class = "dpglm_error")
  expect_error(confint(fitted_people(), level = 0.5), "were paid for")
  expect_error(confint(fitted_people(intervals = NULL)), "intervals = 0.95")
  expect_error(dp_bounds(3), "its name")
  expect_error(dp_bounds(age = c(90, 17)), "bounds of column `age`")
  expect_error(dp_bounds(age = 1:3), "dp_levels")
  frame$born <- as.Date("2000-01-01")
  expect_error(dp_glm(income ~ born, frame, binomial(), dp_bounds(born = c(0, 1)), 1, 1e-6), "class Date")
})

test_that("an interrupt ends a computation, and nothing is released", {
  skip_on_os("windows")
  # The signal comes from another process, as from a terminal.
  interrupted <- function(...) {
    program <- tempfile(fileext = ".R")
    writeLines(c(
      "library(dpglm)", "set.seed(1)", "x <- matrix(runif(4e6, -1, 1), ncol = 100)",
      "system(sprintf('sh -c \"sleep 2; kill -INT %d\" >/dev/null 2>&1 &', Sys.getpid()))",
      "took <- system.time(said <- tryCatch({", ..., "'over'", "}, interrupt = function(i) 'interrupted'))",
      # What was told to stop uses no processor soon after.
      "used <- function(seconds) { before <- proc.time(); Sys.sleep(seconds); sum((proc.time() - before)[1:2]) }",
      "for (second in 1:20) if (rests <- used(1) < 0.05) break",
      "cat(said, took[['elapsed']] < 30, rests)"
    ), program)
    said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", program), stdout = TRUE, stderr = TRUE, env = paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = ":"))))
    utils::tail(said, 1)
  }
  expect_equal(interrupted(
    "dp_plan('linear', columns = 200, rows = 80000, epsilon = 1, delta = 1e-6, target_bounds = c(-3, 3), runs = 100000, cache = tempfile())"
  ), "interrupted TRUE TRUE")
  expect_equal(interrupted(
    "dp_glm_matrix(x, x[, 1], bounds = c(-1, 1), response = c(-1, 1), epsilon = 1, delta = 1e-6, method = 'gradient')",
    "for (i in 1:1000) dp_glm_matrix(x, x[, 1], bounds = c(-1, 1), response = c(-1, 1), epsilon = 1, delta = 1e-6)"
  ), "interrupted TRUE TRUE")
  expect_equal(interrupted(
    "people <- data.frame(age = runif(2000, 18, 90)); people$sick <- rbinom(2000, 1, 0.3)",
    "dp_audit(people, sick ~ age, binomial(), dp_bounds(age = c(18, 90)), epsilon = 1, delta = 1e-6, runs = 1e6)"
  ), "interrupted TRUE TRUE")
})

test_that("other rows are taken as they come", {
  frame <- people()
  fit <- fitted_people()
  file <- tempfile(fileext = ".json")
  dp_save(quietly(dp_glm(income ~ log(age) * sex, frame, binomial(), BOUNDS, 1, 1e-6, insecure_seed = 7)), file)
  read <- dp_read(file)
  expect_equal(predict(read, data.frame(age = 30, sex = "Male")), predict(quietly(dp_glm(income ~ log(age) * sex, frame, binomial(), BOUNDS, 1, 1e-6, insecure_seed = 7)), data.frame(age = 30, sex = "Male")))
  expect_error(predict(read, data.frame(age = 30)), "sex")
  # Weights are nothing that a prediction needs.
  frame$w <- 1
  dp_save(quietly(dp_glm(income ~ age, frame, binomial(), BOUNDS, 1, 1e-6, weights = w, weight_bounds = c(0, 2))), file)
  expect_length(predict(dp_read(file), frame["age"]), 3000)
  # A model is fitted again to rows that a call names.
  again <- quietly(dp_glm(income ~ age, frame[frame$age > 30, ], binomial(), BOUNDS, 1, 1e-6))
  expect_equal(nobs(quietly(stats::update(again))), nobs(again))
})

test_that("Arrow tables are taken as data frames", {
  # What package arrow's tables do, without it.
  registerS3method("as.data.frame", "ArrowTabular", function(x, ...) x$frame)
  table <- function(frame) structure(list(frame = frame), class = c("Table", "ArrowTabular"))
  frame <- people()
  fit <- quietly(dp_glm(income ~ age + sex, table(frame), binomial(), BOUNDS, 1, 1e-6, weights = visits + 1, weight_bounds = c(0, 9)))
  expect_equal(predict(fit, table(frame)), predict(fit, frame))
  expect_equal(nobs(dp_mean(table(frame), dp_bounds(age = c(17, 90), visits = c(0.5, 9)), 1, 1e-6, weights = visits)), 3000)
})

test_that("no cell decides how an Arrow table is read", {
  # Package arrow makes its integers of 64 bits into R's own where all fit, unless it is told not to.
  convert <- function(x, ...) {
    stopifnot(isFALSE(getOption("arrow.int64_downcast")))
    x$frame
  }
  registerS3method("as.data.frame", "ArrowTabular", convert)
  before <- getOption("arrow.int64_downcast")
  table <- structure(list(frame = people()), class = c("Table", "ArrowTabular"))
  expect_equal(nobs(quietly(dp_lm(visits ~ age, table, BOUNDS, 1, 1e-6))), 3000)
  expect_identical(getOption("arrow.int64_downcast"), before)
})

test_that("a cell is the same in whatever form a reader hands it over", {
  frame <- people()
  frame$flag <- rep(c("TRUE", "FALSE", "T"), 1000)
  frame$id <- sprintf("%07d", rep(1:1000, 3))
  fit <- function(frame, flag) {
    bounds <- c(BOUNDS, dp_bounds(flag = flag))
    coef(quietly(dp_lm(visits ~ age + flag, frame, bounds, 1, 1e-6, unit = "id", insecure_seed = 3, intervals = NULL)))
  }
  guessed <- utils::type.convert(frame, as.is = TRUE)
  expect_type(guessed$flag, "logical")
  expect_type(guessed$id, "integer")
  for (flag in list(c(0, 1), c("FALSE", "TRUE"), c("F", "T"))) {
    expect_identical(fit(guessed, flag), fit(frame, flag))
  }
  # Where nobody is male, R reads the sex as a truth value.
  frame$flag <- "F"
  expect_identical(fit(utils::type.convert(frame, as.is = TRUE), c("M", "F")), fit(frame, c("M", "F")))
})

test_that("a response of 0 and 1 may have bounds of 0 and 1", {
  frame <- people()
  pair <- dp_bounds(age = c(17, 90), income = c(0, 1))
  fit <- function(bounds) coef(quietly(dp_glm(income ~ age, frame, binomial(), bounds, 1, 1e-6, insecure_seed = 1)))
  expect_equal(fit(pair), fit(dp_bounds(age = c(17, 90))))
  x <- as.matrix(frame["age"])
  wide <- function(...) coef(dp_glm_matrix(x, frame$income, binomial(), c(17, 90), ..., epsilon = 1, delta = 1e-6, insecure_seed = 1))
  expect_equal(wide(response = c(0, 1)), wide())
})

test_that("bounds are put together, taken apart and changed", {
  bounds <- c(BOUNDS[c("age", "sex")], dp_bounds(hours = c(0, 60)))
  expect_s3_class(bounds, "dp_bounds")
  expect_named(bounds, c("age", "sex", "hours"))
  bounds$age <- c(0, 120)
  bounds[["work"]] <- c("Private", "State")
  bounds["visits"] <- list(dp_count(0, 9))
  bounds$hours <- NULL
  expect_named(bounds, c("age", "sex", "work", "visits"))
  expect_output(print(bounds), "age: number in [0, 120]", fixed = TRUE)
  expect_error(bounds$age <- 3, "no pair of bounds")
  expect_error(bounds["height"], "no column `height`")
  expect_error(c(bounds, dp_bounds(age = c(0, 9))), "declared twice")
})

test_that("survival is fitted as R's own Poisson model of the intervals", {
  set.seed(8)
  n <- 4000
  frame <- data.frame(age = runif(n, 40, 90), sex = sample(c("f", "m"), n, TRUE))
  due <- rexp(n, exp(-4 + 0.03 * frame$age + 0.4 * (frame$sex == "m")))
  frame$years <- pmax(pmin(due, 5), 0.002)
  frame$died <- as.integer(due <= 5)
  bounds <- dp_bounds(age = c(40, 90), sex = c("f", "m"), years = c(0.001, 5))
  fit <- quietly(dp_survival(~ age + sex, frame, years, died, c(1, 3), bounds, Inf, NULL, intervals = NULL))
  rows <- do.call(rbind, lapply(list(c(0, 1), c(1, 3), c(3, 5)), function(ends) {
    in_it <- frame[frame$years > ends[1], ]
    transform(in_it, from = ends[1], spent = pmin(years, ends[2]) - ends[1], came = died * (years <= ends[2]))
  }))
  theirs <- stats::glm(came ~ age + sex + factor(from) + offset(log(spent)), stats::poisson(), rows)
  expect_equal(unname(coef(fit)), unname(coef(theirs)), tolerance = 0.02)
  alive <- predict(fit, data.frame(age = c(50, 80), sex = "m"))
  expect_equal(dim(alive), c(2, 3))
  expect_true(all(diff(t(alive)) < 0) && all(alive[1, ] > alive[2, ]))
  private <- quietly(dp_survival(~ log(age) + sex, frame, "years", "died", c(1, 3), bounds, 2, 1e-6))
  expect_true("log(age)" %in% names(coef(private)) && certificate(private)$epsilon <= 2)
  expect_error(dp_survival(died ~ age, frame, years, died, 1, bounds, 1, 1e-6), "no left side")
  expect_error(dp_survival(~age, frame, years, died, 9, bounds, 1, 1e-6), "ascending times", class = "dpglm_error")
})
