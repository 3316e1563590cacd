#' Private means
#'
#' Means of the columns of a table with one privacy budget; of a column with levels, the share of each level but the first.
#'
#' @param data A data frame, or a matrix (which may be sparse) whose columns all have the same bounds.
#' @param bounds Public bounds or levels of the columns to take means of, from [dp_bounds()]; those of the columns `by` and `weights` too. For a matrix one pair.
#' @param by Take the means of each level of this column apart, in one release.
#' @param weights The column of survey weights, as a name or a text, with its bounds in `bounds`.
#' @param precision How precise columns are to be beside the others' 1, as `c(age = 2)`: one of 2 has half the noise.
#' @param missing `"fill"`: a missing cell counts as the middle of its bounds. `"drop"`: it is counted out, and the mean is of the cells that are there.
#' @param intervals The level of confidence intervals; `NULL` for none. With a `sparsity`, `method` or `tune` there are none unless you ask.
#' @param sparsity At most so many means differ from zero; the columns are chosen privately.
#' @param method `"columns"` (each its own clip and noise), `"localise"` (one clip of whole rows, for columns on one scale) or `"karwa-vadhan"`.
#' @param deviations Public bounds on the columns' standard deviations, for `"karwa-vadhan"`.
#' @param tune `"sparsity=auto"` chooses the sparsity privately.
#' @inheritParams dp_glm
#' @return An object of class `dp_mean`; `coef()`, `confint()`, `summary()` and [certificate()] work as for fits.
#' @examples
#' people <- data.frame(age = rnorm(3000, 45, 12), smoker = runif(3000) < 0.2)
#' dp_mean(people, dp_bounds(age = c(0, 110), smoker = c(FALSE, TRUE)), epsilon = 1, delta = 1e-6)
#' @export
dp_mean <- function(data, bounds, epsilon, delta, by = NULL, weights = NULL, precision = NULL, unit = NULL,
                    missing = c("fill", "drop"), intervals = if (is.null(sparsity) && is.null(method) && is.null(tune)) 0.95,
                    sparsity = NULL, method = NULL, deviations = NULL, tune = NULL, bounds_share = NULL, ledger = NULL,
                    strict = FALSE, insecure_seed = NULL) {
  call <- public_call(match.call())
  budget <- budget_of(if (!base::missing(epsilon)) epsilon, if (!base::missing(delta)) delta, insecure_seed, call)
  missing <- one_of(missing, "missing", c("fill", "drop"), call)
  paid <- paid_from(ledger, call)
  check_budget(budget, call)
  # Without units the rows need not be looked at.
  expect_ledger(paid, budget, if (!is.null(unit)) name_of_unit(without_arrow(data), unit, call), call)
  data <- without_arrow(data)
  weights <- column_or_value(substitute(weights), data, parent.frame(), call)
  given <- list(
    method = method, intervals = intervals, tune = tune, sparsity = sparsity, deviations = deviations, precision = precision, by = by,
    weights = weights
  )
  asked <- asked_of_mean(budget, wishes_of(given, WISHES_OF_MEANS, call), missing, call)
  table <- table_of_means(data, if (!base::missing(bounds)) bounds, asked, unit, strict, bounds_share, call)
  done <- result_of(value_of(.Call(wrap__start_mean, table$table, table$asked, paid), call), call)
  tell(done$said, table$notes, call)
  fitted <- dp_artefact(done$json)
  structure(c(unclass(fitted), list(call = call)), class = class(fitted))
}

asked_of_mean <- function(budget, wish, missing, call) {
  list(
    budget = budget, method = word(wish("method"), "method", call), intervals = number(wish("intervals"), "intervals", call),
    tune = word(wish("tune"), "tune", call), sparsity = whole_number(wish("sparsity"), "sparsity", call),
    deviations = pair_of_numbers(wish("deviations"), "deviations", call), precision = precision_of(wish("precision"), call),
    by = word(wish("by"), "by", call), weights = word(wish("weights"), "weights", call), missing = missing, uniform = NULL,
    bounds_share = NULL
  )
}

precision_of <- function(precision, call) {
  if (is.null(precision)) {
    return(NULL)
  }
  if (!is.numeric(precision) || is.null(names(precision)) || anyNA(precision)) {
    refuse("precision must be numbers with the columns' names, got ", what_is(precision), ": write it like c(age = 2)", call = call)
  }
  as.list(precision)
}

name_of_unit <- function(data, unit, call) if (is.matrix(data) || inherits(data, "Matrix")) "unit" else word(unit, "unit", call)

# The rows as means take them, and what is asked, which depends on the bounds.
table_of_means <- function(data, bounds, asked, unit, strict, bounds_share, call) {
  is_sparse <- !is.null(asked$sparsity) || isTRUE(grepl("sparsity", asked$tune))
  # Columns that are not centred keep their zero, the mean of those that are not chosen.
  intercept <- !is_sparse
  strict <- flag(strict, "strict", call)
  if (is.matrix(data) || inherits(data, "Matrix")) {
    pair <- uniform_bounds(bounds, call)
    asked$uniform <- I(pair)
    features <- features_of(data, call, "data")
    declarations <- structure(rep(list(list(kind = "real", bounds = I(pair))), length(features$names)), names = features$names)
    schema <- list(intercept = intercept, missing = asked$missing, columns = declarations)
    read <- value_of(.Call(wrap__schema_of_means, schema, asked$by, asked$weights), call)
    ids <- if (!is.null(unit)) list("unit", cells_of(unit, "unit", call), "")
    how <- how_to_read("data", strict, for_means = TRUE)
    table <- value_of(.Call(wrap__encode_matrix, how, read, features$numbers, features$names, list(NULL, ids, NULL)), call)
    return(c(table, list(asked = asked)))
  }
  data <- frame_of(data, call)
  bounds <- bounds_of(bounds, call)
  asked$bounds_share <- share_for_bounds(bounds_share, bounds, call)
  schema <- list(intercept = intercept, missing = asked$missing, columns = bounds)
  if (!is.null(unit)) schema$unit <- word(unit, "unit", call)
  read <- value_of(.Call(wrap__schema_of_means, schema, asked$by, asked$weights), call)
  names <- union(names(bounds), unit)
  columns <- structure(lapply(names, function(name) cells_of(column_of(data, name, call), name, call)), names = names)
  table <- encode(how_to_read("data", strict, for_means = TRUE), read, columns, call)
  c(table, list(asked = asked))
}
