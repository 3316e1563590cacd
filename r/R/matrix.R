#' Private models of a matrix
#'
#' As [dp_glm()], for a matrix of features whose columns all have the same public bounds: dense, or sparse from package \pkg{Matrix}.
#' This is how tables with more columns than a formula can name are fitted, with `sparsity` where few of them matter.
#'
#' @param x A numeric matrix, or a sparse one of package \pkg{Matrix}, which stays sparse. Columns without names are called `x0`, `x1` and so on.
#' @param y The response, one for each row: numbers, texts, truth values or a factor.
#' @param bounds One pair of numbers that bounds all features.
#' @param response The response's public bounds, as a pair, or its levels; 0 and 1 by default in logistic models.
#' @param intercept Whether the model has an intercept.
#' @param unit Whose row each row is: one id for each row.
#' @param weights Sampling weights, as of a survey: one number for each row, within `weight_bounds`.
#' @inheritParams dp_glm
#' @param ... Further arguments as in [dp_glm()]: `sparsity`, `intervals`, `method`, `ridge` and so on.
#' @return An object of class `dp_fit`.
#' @examples
#' x <- matrix(runif(4000 * 5, -1, 1), 4000)
#' y <- 2 * x[, 1] + rnorm(4000, sd = 0.3)
#' fit <- dp_glm_matrix(x, y, bounds = c(-1, 1), response = c(-4, 4), epsilon = 1, delta = 1e-6)
#' coef(fit)
#' @export
dp_glm_matrix <- function(x, y, family = gaussian(), bounds, response = NULL, epsilon, delta, intercept = TRUE, unit = NULL,
                          weights = NULL, weight_bounds = NULL, ledger = NULL, strict = FALSE, insecure_seed = NULL, ...) {
  call <- public_call(match.call())
  wish <- wishes_of(list(...), WISHES_OF_FITS, call)
  budget <- budget_of(if (!missing(epsilon)) epsilon, if (!missing(delta)) delta, insecure_seed, call)
  asked <- asked_by_wishes(budget, family, wish, 0.95, call)
  asked$uniform <- TRUE
  paid <- paid_from(ledger, call)
  if (needs_budget(asked)) {
    check_budget(asked$budget, call)
    expect_ledger(paid, asked$budget, if (!is.null(unit)) "unit", call)
  }
  features <- features_of(x, call)
  pair <- uniform_bounds(if (!missing(bounds)) bounds, call)
  intercept <- flag(intercept, "intercept", call)
  declarations <- structure(rep(list(list(kind = "real", bounds = I(pair))), length(features$names)), names = features$names)
  target <- if (is.null(response)) list() else list(y = declared_column("y", response, call))
  target <- with_response(target, "y", asked$family, call, remedy = "response")
  if (length(y) != features$rows) {
    refuse(length(y), " responses for ", features$rows, " rows: give one for each row", call = call)
  }
  name <- if ("y" %in% features$names) "(y)" else "y"
  given <- list(name, cells_of(y, "y", call), list(target = name, columns = structure(target, names = name)))
  ids <- if (!is.null(unit)) list("unit", cells_of(unit, "unit", call), "")
  weights <- weights_of_matrix(weights, weight_bounds, features, call)
  table <- value_of(.Call(
    wrap__encode_matrix, how_to_read("x", flag(strict, "strict", call), intercept), list(intercept = intercept, columns = declarations),
    features$numbers, features$names, list(given, ids, weights)
  ), call)
  done <- result_of(value_of(.Call(wrap__start_fit, table$table, asked, paid), call), call)
  tell(done$said, table$notes, call)
  fitted <- dp_artefact(done$json)
  structure(c(unclass(fitted), list(call = call)), class = class(fitted))
}

weights_of_matrix <- function(weights, weight_bounds, features, call) {
  if (is.null(weights)) {
    return(weights_of(NULL, weight_bounds, call = call))
  }
  cells <- row_weights(weights, features$rows, call)
  name <- if ("weights" %in% features$names) "(weights)" else "weights"
  list(name, cells, as.double(declared_weights(name, weight_bounds, NULL, call)$bounds))
}

uniform_bounds <- function(bounds, call) {
  if (!is.numeric(bounds) || length(bounds) != 2) {
    refuse("public bounds are needed and have no default: give bounds = c(LOW, HIGH), which hold for all columns", call = call)
  }
  value_of(.Call(wrap__check_bounds, "bounds", as.double(bounds[1]), as.double(bounds[2])), call)
  as.double(bounds)
}

# Numbers column by column, or compressed sparse rows.
features_of <- function(x, call, what = "x") {
  if (inherits(x, "Matrix")) {
    if (!requireNamespace("Matrix", quietly = TRUE)) {
      refuse("sparse matrices need package Matrix: install it", call = call, usage = FALSE)
    }
    sparse <- methods_as(x)
    numbers <- list(sparse@p, sparse@j, sparse@x)
  } else {
    if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
      refuse(what, " must be a numeric or sparse matrix, got ", what_is(x), ": data frames go with a formula, in dp_glm()", call = call)
    }
    numbers <- as.double(x)
  }
  if (!nrow(x) || !ncol(x)) {
    refuse(what, " has ", nrow(x), " rows and ", ncol(x), " columns: check that the export was complete", call = call)
  }
  names <- if (is.null(colnames(x))) paste0("x", seq_len(ncol(x)) - 1) else in_utf8(colnames(x), paste0("a column's name of ", what), call)
  if (anyDuplicated(names)) {
    refuse(what, " has two columns called `", names[anyDuplicated(names)], "`: give each a name of its own", call = call)
  }
  list(numbers = numbers, names = names, rows = nrow(x))
}

methods_as <- function(x) methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "RsparseMatrix")
