#' Tidy private fits
#'
#' Methods for the generics of package \pkg{broom}: they are there once it, or \pkg{generics}, is installed.
#'
#' @param x A result of [dp_glm()] and others.
#' @param data For `augment()`, a data frame of *public* rows, or of rows that stay with you: predictions are as private as these rows.
#' @param newdata The same under its other name.
#' @param conf.int,conf.level For `tidy()`, whether to give intervals, and their level, which can be that of the fit alone.
#' @param exponentiate For `tidy()`, whether to give odds or rate ratios.
#' @param ... None.
#' @return A data frame: a tibble if package \pkg{tibble} is installed.
#' @examplesIf requireNamespace("broom", quietly = TRUE)
#' people <- data.frame(age = runif(3000, 18, 90))
#' people$sick <- rbinom(3000, 1, plogis(people$age / 30 - 2))
#' fit <- dp_glm(sick ~ age, people, binomial(), dp_bounds(age = c(18, 90)), epsilon = 1, delta = 1e-6)
#' broom::tidy(fit, conf.int = TRUE)
#' broom::glance(fit)
#' @name dp_tidy
NULL

as_tibble <- function(rows) if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(rows) else rows

#' @rdname dp_tidy
#' @exportS3Method generics::tidy
tidy.dp_artefact <- function(x, conf.int = FALSE, conf.level = NULL, exponentiate = FALSE, ...) {
  rows <- terms_of(x)
  if (inherits(x, "dp_description")) {
    return(as_tibble(rows))
  }
  if (flag(conf.int, "conf.int", sys.call()) || !is.null(conf.level)) confint(x, level = conf.level)
  if (!conf.int) rows[c("conf.low", "conf.high")] <- NULL
  if (flag(exponentiate, "exponentiate", sys.call())) {
    shown <- intersect(c("estimate", "conf.low", "conf.high"), names(rows))
    rows[shown] <- lapply(rows[shown], exp)
  }
  as_tibble(rows)
}

#' @rdname dp_tidy
#' @exportS3Method generics::glance
glance.dp_artefact <- function(x, ...) {
  document <- x$document
  promise <- certificate(x)
  as_tibble(data.frame(
    family = document$family %||% sub("^dpglm\\.|/.*$", "", sub("/.*$", "", document$schema)), method = document$method %||% NA_character_,
    target = document$target$name %||% NA_character_, nobs = document$n, terms = nrow(terms_of(x)), level = document$level %||% NA_real_,
    grade = promise$grade, epsilon = promise$epsilon %||% NA_real_, delta = promise$delta %||% NA_real_
  ))
}

#' @rdname dp_tidy
#' @exportS3Method generics::augment
augment.dp_fit <- function(x, data = NULL, newdata = NULL, ...) {
  rows <- if (is.null(newdata)) data else newdata
  if (is.null(rows)) {
    refuse("augment() needs data: a private fit keeps no rows; give public ones, or rows that stay with you", call = sys.call())
  }
  predicted <- predict(x, rows)
  if (!is.data.frame(rows)) rows <- as.data.frame(as.matrix(rows))
  if (is.matrix(predicted)) {
    colnames(predicted) <- paste0(".fitted_", colnames(predicted))
    return(as_tibble(cbind(rows, as.data.frame(predicted))))
  }
  rows$.fitted <- predicted
  as_tibble(rows)
}
