# Same seed, same rows: the package and the command leave the identical artefact, and refuse in the same words.

FLAGS <- c("--epsilon", "1", "--delta", "1e-6", "--insecure-seed", "7")

COLUMNS <- c(
  age = '{ kind = "real", bounds = [18, 85], fill = 40 }', visits = '{ kind = "count", bounds = [0, 9] }',
  sex = '{ kind = "binary", levels = ["Female", "Male"] }', work = '{ kind = "category", levels = ["Private", "State", "Self"] }',
  income = '{ kind = "binary", levels = ["0", "1"] }', hours = '{ kind = "real", bounds = [0.5, 60] }',
  w = '{ kind = "real", bounds = [0, 8] }'
)

# A schema file of these columns; a model's response comes last, as R declares it.
schema <- function(columns, target = NULL, missing = "fill", unit = NULL, weight = NULL) {
  columns <- c(setdiff(columns, target), target)
  line <- function(name, value) if (!is.null(value)) sprintf('%s = "%s"', name, value)
  c(line("target", target), line("missing", missing), line("unit", unit), line("weight", weight), "[columns]", paste(columns, "=", COLUMNS[columns]))
}

messy <- function() {
  frame <- people()
  frame$income <- NULL
  frame$sex[sample(nrow(frame), 50)] <- "?"
  frame$work[sample(nrow(frame), 50)] <- "Other"
  frame$age[3] <- NA
  frame$visits[7] <- NA
  frame
}

on_disk <- function(frame, schema) {
  folder <- tempfile()
  dir.create(folder)
  utils::write.csv(frame, file.path(folder, "t.csv"), row.names = FALSE)
  writeLines(schema, file.path(folder, "t.toml"))
  c(file.path(folder, "t.csv"), "--schema", file.path(folder, "t.toml"))
}

test_that("models of a table are those of the command, whatever a cell holds", {
  frame <- messy()
  families <- list(age = gaussian(), sex = binomial(), visits = poisson(), work = "multinomial")
  # Integers, factors and texts hold the same cells.
  same <- list(frame, transform(frame, sex = factor(sex), work = factor(work), visits = as.double(visits)))
  for (target in names(families)) {
    for (missing in c("fill", "drop", "indicator")) {
      files <- on_disk(frame, schema(names(families), target, missing))
      flags <- c(FLAGS, "--intervals", "0.9", if (target == "visits") c("--family", "poisson"))
      expected <- command("fit", files, flags)
      bounds <- dp_schema(files[3])
      formula <- stats::reformulate(setdiff(names(bounds), target), target)
      for (data in same) {
        fit <- quietly(dp_glm(formula, data, families[[target]], bounds,
          epsilon = 1, delta = 1e-6, intervals = 0.9, missing = missing, insecure_seed = 7
        ))
        expect_identical(dp_json(fit), expected, info = paste(target, missing))
      }
    }
  }
})

test_that("predictions are those of the command", {
  frame <- people()
  files <- on_disk(frame, schema(names(frame), "income"))
  fit <- quietly(dp_glm(income ~ age + visits + sex + work, frame, binomial(), dp_schema(files[3]), epsilon = 1, delta = 1e-6))
  artefact <- tempfile(fileext = ".json")
  dp_save(fit, artefact)
  program <- Sys.getenv("DPGLM")
  skip_if(program == "", "DPGLM names no command")
  output <- tempfile(fileext = ".csv")
  system2(program, shQuote(c("predict", artefact, files[1], "--output", output)))
  theirs <- utils::read.csv(output, check.names = FALSE)
  expect_equal(theirs[[ncol(theirs)]], predict(fit, frame), tolerance = 1e-9)
  expect_equal(predict(dp_read(artefact), frame), predict(fit, frame))
})

test_that("what the command wrote predicts from the columns that it needs", {
  frame <- people()
  frame$w <- 1
  frame$hours <- 0.5 + frame$visits
  read <- function(declared, ...) {
    files <- on_disk(frame[declared], c(schema(setdiff(declared, "work"), ...), 'work = { kind = "ignore" }'))
    function(...) {
      file <- tempfile(fileext = ".json")
      writeLines(command("fit", files, FLAGS, ...), file)
      dp_read(file)
    }
  }
  weighted <- read(c("age", "sex", "w", "work", "visits"), "visits", weight = "w")("--family", "gaussian")
  expect_length(predict(weighted, frame[1:9, c("age", "sex")]), 9)
  expect_error(predict(weighted, frame["age"]), "no column `sex`")
  survival <- read(c("age", "sex", "work", "hours", "income"))("--survival", "hours,income", "--cuts", "2,5")
  expect_equal(dim(predict(survival, frame[1:9, c("age", "sex")])), c(9, 3))
})

test_that("families, dispersions and weights are those of the command", {
  frame <- messy()
  frame$hours <- round(stats::rgamma(nrow(frame), 2, 0.1), 2)
  frame$w <- round(stats::runif(nrow(frame), 0, 9), 2)
  frame$w[5] <- NA
  columns <- c("age", "work")
  asked <- list(
    list("hours", stats::Gamma(link = "log"), c("--family", "gamma")), list("sex", binomial("probit"), c("--family", "probit")),
    list("sex", binomial("cloglog"), c("--family", "cloglog")), list("visits", stats::quasipoisson(), c("--family", "poisson", "--dispersion")),
    list("hours", gaussian(), "--dispersion", dispersion = TRUE), list("hours", "tweedie", c("--family", "tweedie", "--power", "1.5"), power = 1.5)
  )
  for (one in asked) {
    for (weight in list(NULL, "w")) {
      declared <- c(columns, weight, one[[1]])
      files <- on_disk(frame[declared], schema(declared, one[[1]], weight = weight))
      expected <- command("fit", files, FLAGS, one[[3]])
      formula <- stats::reformulate(columns, one[[1]])
      arguments <- list(formula, frame, one[[2]], dp_schema(files[3]), 1, 1e-6, weights = weight, insecure_seed = 7)
      fit <- quietly(do.call(dp_glm, c(arguments, list(intervals = NULL), one[-(1:3)])))
      expect_identical(dp_json(fit), expected, info = paste(one[[3]], collapse = " "))
    }
  }
})

test_that("formulas that compute are those of the command", {
  frame <- messy()
  frame$income <- rbinom(nrow(frame), 1, 0.4)
  frame$hours <- round(stats::rgamma(nrow(frame), 2, 0.1), 2)
  declared <- c("age", "visits", "sex", "work", "hours", "income")
  files <- on_disk(frame[declared], schema(declared))
  asked <- list(
    list(log(hours) ~ ns(age, knots = c(30, 45, 60)) + log1p(visits):sex + sex + work, gaussian()),
    list(income ~ log(age) * sex + ns(hours, knots = c(5, 20.5)) - work, binomial()),
    list(visits ~ pmin(age, 60) + I((age - 50)^2 / 10) + . - hours - income, stats::poisson()),
    list(income ~ bs(age, knots = 40, degree = 2) + pieces(hours, knots = c(10, 30)) + C(work), binomial())
  )
  texts <- c(
    "log(hours) ~ ns(age, knots=[30, 45, 60]) + log1p(visits):sex + sex + work",
    "income ~ log(age) * sex + ns(hours, knots=[5, 20.5]) - work",
    "visits ~ pmin(age, 60) + I((age - 50)^2 / 10) + . - hours - income",
    "income ~ bs(age, knots=[40], degree=2) + pieces(hours, knots=[10, 30]) + C(work)"
  )
  for (place in seq_along(asked)) {
    formula <- asked[[place]][[1]]
    family <- asked[[place]][[2]]
    flags <- c(FLAGS, "--intervals", "0.95", "--formula", texts[place], if (family$family == "poisson") c("--family", "poisson"))
    expected <- command("fit", files, flags)
    fit <- quietly(dp_glm(formula, frame, family, dp_schema(files[3]), 1, 1e-6, insecure_seed = 7))
    expect_identical(dp_json(fit), expected, info = texts[place])
    artefact <- tempfile(fileext = ".json")
    dp_save(fit, artefact)
    expect_equal(predict(dp_read(artefact), frame), predict(fit, frame), info = texts[place])
  }
})

test_that("weighted formulas that compute are those of the command", {
  frame <- messy()
  frame$w <- round(stats::runif(nrow(frame), 0, 9), 2)
  declared <- c("age", "w", "sex", "visits")
  files <- on_disk(frame[declared], schema(declared, weight = "w"))
  expected <- command("fit", files, FLAGS, "--family", "gaussian", "--formula", "visits ~ log(age):sex + .")
  fit <- quietly(dp_lm(visits ~ log(age):sex + ., frame, dp_schema(files[3]), 1, 1e-6, weights = w, intervals = NULL, insecure_seed = 7))
  expect_identical(dp_json(fit), expected)
})

test_that("survival is that of the command", {
  frame <- people()[c("age", "sex")]
  frame$hours <- round(stats::rexp(nrow(frame), 0.05) + 0.5, 2)
  frame$income <- stats::rbinom(nrow(frame), 1, 0.5)
  for (formula in list(~ age + sex, ~ log(age) + sex)) {
    files <- on_disk(frame, schema(names(frame)))
    computes <- if ("log" %in% all.names(formula)) c("--formula", "~ log(age) + sex")
    expected <- command("fit", files, FLAGS, "--intervals", "0.95", "--survival", "hours,income", "--cuts", "5,20", computes)
    fit <- quietly(dp_survival(formula, frame, hours, income, c(5, 20), dp_schema(files[3]), 1, 1e-6, insecure_seed = 7))
    expect_identical(dp_json(fit), expected)
  }
})

test_that("units are those of the command", {
  frame <- people(600)
  frame$id <- rep(seq_len(200), 3)
  files <- on_disk(frame[setdiff(names(frame), "income")], schema(c("age", "visits", "sex", "work"), "age", unit = "id"))
  expected <- command("fit", files, FLAGS)
  fit <- quietly(dp_lm(age ~ visits + sex + work, frame, dp_schema(files[3]), 1, 1e-6, intervals = NULL, unit = "id", insecure_seed = 7))
  expect_identical(dp_json(fit), expected)
  expect_equal(nobs(fit), 200)
})

# A NumPy file: a matrix column by column, or a vector.
save_npy <- function(x) {
  file <- tempfile(fileext = ".npy")
  shape <- if (is.matrix(x)) paste0("(", nrow(x), ", ", ncol(x), ")") else paste0("(", length(x), ",)")
  order <- if (is.matrix(x)) "True" else "False"
  header <- sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': %s, }", order, shape)
  header <- paste0(formatC(header, width = -(128 - 11)), "\n")
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeBin(c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0)), as.raw(nchar(header) %% 256), as.raw(nchar(header) %/% 256)), connection)
  writeBin(charToRaw(header), connection)
  writeBin(as.double(x), connection, size = 8, endian = "little")
  file
}

test_that("models of a matrix are those of the command", {
  set.seed(2)
  x <- matrix(round(runif(1500 * 6, -1.2, 1.2), 3), 1500)
  x[3, 2] <- NaN
  y <- as.integer(x[, 1] + rnorm(1500) > 0)
  files <- c("--design", save_npy(x), "--response", save_npy(y), "--feature-bounds=-1,1")
  expected <- command("fit", files, "--binary", "--intervals", "0.95", FLAGS)
  fit <- quietly(dp_glm_matrix(x, y, binomial(), c(-1, 1), epsilon = 1, delta = 1e-6, insecure_seed = 7))
  expect_identical(dp_json(fit), expected)
  expected <- command("fit", files, "--target-bounds=-1,2", "--sparsity", "2", "--no-intercept", FLAGS)
  fit <- quietly(dp_glm_matrix(x, y,
    bounds = c(-1, 1), response = c(-1, 2), epsilon = 1, delta = 1e-6, sparsity = 2, intervals = NULL, intercept = FALSE, insecure_seed = 7
  ))
  expect_identical(dp_json(fit), expected)
})

test_that("means are those of the command", {
  frame <- people()[c("age", "visits", "sex", "work")]
  files <- on_disk(frame, schema(names(frame), missing = "drop"))
  bounds <- dp_schema(files[3])
  for (extra in list(list(), list(by = "sex"), list(precision = c(age = 2)))) {
    flags <- c(FLAGS, "--intervals", "0.95", if (!is.null(extra$by)) c("--by", "sex"), if (!is.null(extra$precision)) c("--weights", "age=2"))
    expected <- command("mean", files, flags)
    arguments <- list(frame, bounds, epsilon = 1, delta = 1e-6, missing = "drop", insecure_seed = 7)
    mean <- quietly(do.call(dp_mean, c(arguments, extra)))
    expect_identical(dp_json(mean), expected)
  }
})

test_that("descriptions are those of the command", {
  frame <- messy()
  files <- on_disk(frame, schema(names(frame), missing = "drop"))
  for (extra in list(list(), list(by = "sex", histograms = 5), list(cross = c("sex", "work"), correlations = TRUE))) {
    flags <- c(
      FLAGS, if (!is.null(extra$by)) c("--by", "sex", "--histograms", "5"), if (!is.null(extra$cross)) c("--cross", "sex,work", "--correlations")
    )
    expected <- command("describe", files, flags)
    found <- quietly(do.call(dp_describe, c(list(frame, dp_schema(files[3]), epsilon = 1, delta = 1e-6, insecure_seed = 7), extra)))
    expect_identical(dp_json(found), expected)
  }
})

test_that("what the command refuses is refused in the same words", {
  frame <- people(200)
  files <- on_disk(frame, schema(names(frame), "income"))
  wrong <- list(
    list(epsilon = 0), list(epsilon = -1), list(delta = 0), list(delta = 1.5), list(ridge = -1), list(intervals = 1.5), list(radius = 0),
    list(sparsity = 99), list(sparsity = 2, method = "gradient"), list(row_norm = -1), list(accept = "anything"),
    list(sparsity = 2, tune = "sparsity=auto"), list(tune = "steps=auto")
  )
  for (parameters in wrong) {
    given <- utils::modifyList(BUDGET, parameters)
    flags <- unlist(Map(function(name, value) c(paste0("--", gsub("_", "-", name)), format(value)), names(given), given))
    told <- words(refusal("fit", files, flags))
    arguments <- c(list(income ~ age + visits + sex + work, frame, binomial(), dp_schema(files[3])), given)
    if (is.null(parameters$intervals)) arguments["intervals"] <- list(NULL)
    error <- expect_error(do.call(dp_glm, arguments), class = "dpglm_error")
    said <- gsub("-", "_", conditionMessage(error))
    expect_true(grepl(said, told, fixed = TRUE), info = paste(said, told, sep = "\n"))
  }
})
