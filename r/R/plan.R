#' Plan a study
#'
#' How many rows, how much privacy, what error? Two of them give the third, by simulation with the real estimators. No private row is read.
#'
#' @param model `"mean"`, `"linear"`, `"logistic"` or `"poisson"`.
#' @param columns The number of columns.
#' @param rows,epsilon,error Two of these. The error is a squared l2 distance, for features scaled to \[-1, 1\].
#' @param delta As for fits.
#' @param sparsity How many columns matter, if few do.
#' @param sigma The standard deviation of the rows (`"mean"`) or of the errors (`"linear"`), 1 by default.
#' @param feature_bounds,target_bounds Public bounds of the columns, for a mean, and of the response, for linear and Poisson models.
#' @param mean_count The count to expect of a row whose features are in the middle of their bounds (`"poisson"`).
#' @param runs Simulated fits at each point.
#' @param cache A folder for simulated errors; by default that of the user's cache.
#' @param x,... For the methods.
#' @return A list of class `dp_plan` with `rows`, `epsilon`, `delta`, `error`, `standard_error`, `simulated` and `hopeless`.
#' @examples
#' dp_plan("logistic", columns = 3, rows = 500, epsilon = 1, delta = 1e-6, runs = 2, cache = tempfile())
#' @export
dp_plan <- function(model, columns, delta, rows = NULL, epsilon = NULL, error = NULL, sparsity = NULL, sigma = NULL,
                    feature_bounds = NULL, target_bounds = NULL, mean_count = NULL, runs = 40, cache = NULL) {
  call <- public_call(match.call())
  asked <- list(
    model = word(model, "model", call), columns = whole_number(columns, "columns", call), rows = whole_number(rows, "rows", call),
    epsilon = number(epsilon, "epsilon", call), delta = number(delta, "delta", call), error = number(error, "error", call),
    sparsity = whole_number(sparsity, "sparsity", call), sigma = number(sigma, "sigma", call),
    feature_bounds = pair_of_numbers(feature_bounds, "feature_bounds", call),
    target_bounds = pair_of_numbers(target_bounds, "target_bounds", call), mean_count = number(mean_count, "mean_count", call),
    runs = whole_number(runs, "runs", call), cache = if (!is.null(cache)) path.expand(word(cache, "cache", call))
  )
  done <- result_of(value_of(.Call(wrap__start_plan, asked), call), call)
  tell(done$said, call = call)
  found <- value_of(.Call(wrap__open_json, done$json), call)
  structure(c(found[-1], list(json = done$json, text = done$text, call = call)), class = "dp_plan")
}

#' @rdname dp_plan
#' @export
print.dp_plan <- function(x, ...) {
  cat(x$text)
  invisible(x)
}
