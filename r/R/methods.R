#' Methods for private fits
#'
#' What a fitted model or means answer. None of these costs anything: all of it was paid for by the fit, and no row is kept.
#'
#' @param object,x A result of [dp_glm()], [dp_lm()], [dp_glm_matrix()] or [dp_mean()].
#' @param type For `coef()`, `"estimate"`: what standard errors and intervals belong to, of maximum likelihood without shrinkage or penalty; `"prediction"`: the
#'   shrunk coefficients with which predictions are made. They are the same where there are no intervals. For `predict()`, `"response"`: the mean
#'   response, or with several levels the probability of each; `"link"`: the linear predictor.
#' @param parm Coefficients by name or number; all by default.
#' @param level The level of the intervals: that of the fit, which is the default. Another would not be what was paid for.
#' @param newdata A data frame with the formula's columns, or a matrix for [dp_glm_matrix()]. Predictions are as private as the rows they are made for.
#' @param y `"coefficients"` draws estimates with their intervals, `"privacy"` the privacy curve.
#' @param ... Passed on to plots; otherwise none.
#'
#' @details
#' A coefficient that the budget or the rows do not determine is printed as such, and its interval says nothing; `summary()` lists it in the
#' column `determined`.
#'
#' `vcov()` is of `coef(type = "estimate")`. Covariances that were not kept are `NA`: of coefficients of two levels of a multinomial response, of
#' very many coefficients, and of means.
#'
#' Residuals, fitted values, the likelihood and what is made of it (deviance, AIC) are not private, nobody paid for them, and asking for them is an
#' error, as are weights, residual degrees of freedom and `anova()`. A model of class `dp_fit` holds no rows to compute them from.
#' `predict()` gives no standard errors.
#'
#' @return What the generics give elsewhere.
#' @examples
#' cars <- data.frame(speed = runif(2000, 5, 25))
#' cars$distance <- 3 * cars$speed + rnorm(2000, sd = 5)
#' fit <- dp_lm(distance ~ speed, cars, dp_bounds(speed = c(0, 30), distance = c(0, 120)), epsilon = 1, delta = 1e-6)
#' summary(fit)
#' predict(fit, data.frame(speed = c(10, 20)))
#' plot(fit)
#' @name dp_fit-methods
NULL

named_numbers <- function(found) if (is.null(found)) NULL else vapply(found, as.double, 0)

#' @rdname dp_fit-methods
#' @export
coef.dp_fit <- function(object, type = c("estimate", "prediction"), ...) {
  type <- one_of(type, "type", c("estimate", "prediction"), sys.call())
  document <- object$document
  estimates <- if (type == "estimate") document$estimates
  named_numbers(if (is.null(estimates)) document$coefficients else estimates)
}

#' @rdname dp_fit-methods
#' @export
coef.dp_mean <- function(object, ...) named_numbers(object$document$means)

#' @rdname dp_fit-methods
#' @export
confint.dp_fit <- function(object, parm, level = NULL, ...) {
  call <- sys.call()
  document <- object$document
  if (is.null(document$intervals)) {
    why <- if (is.null(document$level)) "were asked for: fit with intervals = 0.95" else "can be had: no coefficient is determined at this budget"
    refuse("there are no intervals, for none ", why, call = call)
  }
  if (!is.null(level) && !isTRUE(all.equal(level, document$level))) {
    refuse("level: intervals of level ", document$level, " were paid for, so there are no others: leave out level", call = call)
  }
  ends <- t(vapply(document$intervals, function(ends) as.double(unlist(ends)), c(0, 0)))
  tail <- 100 * (1 - document$level) / 2
  dimnames(ends) <- list(names(document$intervals), paste(format(c(tail, 100 - tail), trim = TRUE, digits = 3), "%"))
  if (missing(parm)) ends else ends[parm, , drop = FALSE]
}

#' @rdname dp_fit-methods
#' @export
confint.dp_mean <- confint.dp_fit

#' @rdname dp_fit-methods
#' @export
vcov.dp_fit <- function(object, ...) {
  errors <- named_numbers(object$document$standard_errors)
  if (is.null(errors)) {
    refuse("there are no standard errors: fit with intervals = 0.95", call = sys.call())
  }
  variances <- matrix(NA_real_, length(errors), length(errors), dimnames = list(names(errors), names(errors)))
  diag(variances) <- errors^2
  # Of each linear predictor the rows of the lower triangle; of a symmetric matrix they are the columns of the upper one.
  blocks <- if (identical(object$document$family, "multinomial")) length(object$document$target$levels) - 1 else 1
  size <- length(errors) / blocks
  triangles <- unlist(object$document$covariance)
  if (length(triangles) != blocks * size * (size + 1) / 2) {
    return(variances)
  }
  triangles <- matrix(triangles, ncol = blocks)
  for (block in seq_len(blocks)) {
    one <- matrix(0, size, size)
    one[upper.tri(one, diag = TRUE)] <- triangles[, block]
    places <- (block - 1) * size + seq_len(size)
    variances[places, places] <- one + t(one) - diag(diag(one), size)
  }
  variances
}

#' @rdname dp_fit-methods
#' @export
vcov.dp_mean <- vcov.dp_fit

#' @rdname dp_fit-methods
#' @export
nobs.dp_artefact <- function(object, ...) object$document$n

#' @rdname dp_fit-methods
#' @export
summary.dp_artefact <- function(object, ...) {
  rows <- terms_of(object)
  if (!is.null(rows$term)) rownames(rows) <- rows$term
  parts <- list(fit = object, coefficients = rows, certificate = certificate(object), dispersion = object$document$dispersion)
  structure(parts, class = "summary.dp_artefact")
}

#' @export
print.summary.dp_artefact <- function(x, ...) {
  if (!is.null(x$fit$call)) cat("Call:\n", paste(deparse(x$fit$call), collapse = "\n"), "\n\n", sep = "")
  cat(trimws(x$fit$table, "right"), "\n\n", sep = "")
  print(x$certificate, conditions = TRUE)
  invisible(x)
}

# One row for each estimate.
terms_of <- function(x) {
  document <- x$document
  if (inherits(x, "dp_description")) {
    return(as.data.frame(x))
  }
  estimates <- coef(x)
  rows <- data.frame(term = names(estimates), estimate = unname(estimates))
  if (!is.null(document$standard_errors)) rows$std.error <- unname(named_numbers(document$standard_errors)[rows$term])
  if (!is.null(document$intervals)) {
    ends <- confint(x)
    rows$conf.low <- unname(ends[rows$term, 1])
    rows$conf.high <- unname(ends[rows$term, 2])
  }
  if (!is.null(document$determined)) rows$determined <- unname(unlist(document$determined)[rows$term])
  rows
}

#' @rdname dp_fit-methods
#' @export
predict.dp_fit <- function(object, newdata, type = c("response", "link"), ...) {
  call <- public_call(match.call())
  call$object <- quote(object)
  type <- one_of(type, "type", c("response", "link"), call)
  if (...length()) {
    more <- setdiff(c(names(list(...)), ""), "")
    refuse(
      if (length(more)) more[1] else "a further argument", " is none of predict()'s: predictions have no standard errors or intervals here; ",
      "confint() has those of coefficients, and `dpglm predict --intervals` those of a saved fit",
      call = call
    )
  }
  if (missing(newdata)) {
    refuse("newdata is needed: a private fit keeps no rows, so there are none to predict for", call = call)
  }
  table <- table_to_predict(object, newdata, call)
  found <- value_of(.Call(wrap__predict_rows, object$json, table$table), call)
  rows <- table$rows
  levels <- unlist(object$document$target$levels)
  if (type == "link") {
    blocks <- length(found$link) / rows
    return(if (blocks == 1) found$link else matrix(found$link, rows, dimnames = list(NULL, levels[-1])))
  }
  # As R's own models of two levels: the probability of the second.
  if (length(found$columns) == 1) {
    return(found$response)
  }
  probabilities <- matrix(found$response, rows, byrow = TRUE, dimnames = list(NULL, found$columns))
  if (length(found$columns) == 2 && object$document$family %in% BINARY) unname(probabilities[, 2]) else probabilities
}

table_to_predict <- function(object, newdata, call) {
  encoding <- object$document$encoding
  if (is.matrix(newdata) || inherits(newdata, "Matrix")) {
    features <- features_of(newdata, call, "newdata")
    names <- if (is.null(colnames(newdata))) utils::head(unlist(object$document$columns), ncol(newdata)) else features$names
    how <- how_to_read("newdata", needs_target = FALSE)
    return(value_of(.Call(wrap__encode_matrix, how, encoding_of(object), features$numbers, names, list(NULL, NULL, NULL)), call))
  }
  newdata <- frame_of(newdata, call)
  # Of a fit that was read from a file the library knows what its formula needs.
  names <- object$needs
  if (is.null(names)) {
    is_read <- vapply(encoding$columns, function(column) !identical(column$kind, "ignore"), TRUE)
    times <- if (!is.null(object$document$survival)) encoding$exposure
    names <- setdiff(names(encoding$columns)[is_read], c(object$document$target$name, encoding$unit, encoding$weight, times))
    if (!is.null(encoding$formula)) names <- intersect(names, names(newdata))
  }
  columns <- structure(lapply(names, function(name) cells_of(column_of(newdata, name, call), name, call)), names = names)
  encode(how_to_read("newdata", needs_target = FALSE), encoding_of(object), columns, call)
}

# How to read other rows, as the artefact writes it.
encoding_of <- function(object) value_of(.Call(wrap__encoding_of, object$json))

`%||%` <- function(a, b) if (is.null(a)) b else a

#' @rdname dp_fit-methods
#' @export
plot.dp_fit <- function(x, y = c("coefficients", "privacy"), ...) {
  y <- one_of(y, "y", c("coefficients", "privacy"), sys.call())
  if (y == "privacy") {
    plot(certificate(x), ...)
    return(invisible(x))
  }
  rows <- terms_of(x)
  rows <- rows[rows$term != "(Intercept)", ]
  if (!is.null(rows$determined)) rows <- rows[rows$determined, ]
  if (!nrow(rows)) refuse("no coefficient is determined, so there is none to draw")
  forest(rows$estimate, rows$conf.low, rows$conf.high, rows$term, "Coefficient", zero = inherits(x, "dp_fit"), ...)
  invisible(x)
}

#' @rdname dp_fit-methods
#' @export
plot.dp_mean <- plot.dp_fit

# Estimates with their intervals, one under the other.
forest <- function(estimates, low, high, labels, title, zero, ...) {
  places <- rev(seq_along(estimates))
  lines <- max(nchar(labels)) * 0.5 + 1
  kept <- graphics::par(mar = c(4, min(lines, 18), 1, 1))
  on.exit(graphics::par(kept))
  graphics::plot(
    estimates, places,
    xlim = range(estimates, low, high, if (zero) 0), ylim = c(0.5, length(places) + 0.5), yaxt = "n", ylab = "", xlab = title, pch = 19, ...
  )
  graphics::axis(2, places, labels, las = 1)
  if (zero) graphics::abline(v = 0, lty = 3)
  if (!is.null(low)) graphics::segments(low, places, high, places)
}

# What nobody paid for.

not_private <- function(what, instead = "") {
  refuse(what, " of private rows are not private, and nothing paid for them", instead, call = sys.call(-1), usage = FALSE)
}

#' @export
residuals.dp_artefact <- function(object, ...) not_private("residuals")

#' @export
fitted.dp_artefact <- function(object, ...) not_private("fitted values", ": predict(fit, newdata) for other rows")

#' @export
logLik.dp_artefact <- function(object, ...) not_private("the likelihood and what is made of it", ": compare fits on public or held-out rows")

#' @export
deviance.dp_artefact <- function(object, ...) not_private("the deviance and what is made of it", ": compare fits on public or held-out rows")

#' @export
weights.dp_artefact <- function(object, ...) not_private("weights")

#' @export
df.residual.dp_artefact <- function(object, ...) {
  refuse(
    "there are no residual degrees of freedom: intervals are normal, for the sampling error and the noise together. nobs() has the number of rows",
    call = sys.call(), usage = FALSE
  )
}

#' @export
anova.dp_artefact <- function(object, ...) {
  refuse(
    "anova() compares likelihoods, which are made of private rows, and nothing paid for them: confint() says what coefficients can be, ",
    "and `dpglm summary --contrast` compares those of a saved fit",
    call = sys.call(), usage = FALSE
  )
}

#' @export
family.dp_fit <- function(object, ...) {
  switch(object$document$family,
    gaussian = stats::gaussian(), logistic = stats::binomial(), probit = stats::binomial("probit"), cloglog = stats::binomial("cloglog"),
    gamma = stats::Gamma("log"), poisson = if (is.null(object$document$dispersion)) stats::poisson() else stats::quasipoisson(),
    refuse("family ", object$document$family, " is none of R's", call = sys.call(), usage = FALSE)
  )
}

#' @export
formula.dp_fit <- function(x, ...) {
  if (is.null(x$formula)) refuse("there is no formula: the fit was read from a file, or made from a matrix", call = sys.call())
  x$formula
}
