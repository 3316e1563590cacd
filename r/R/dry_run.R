#' What a fit would promise
#'
#' The certificate that a fit, or means, of so many rows would carry. No row is needed and nothing is spent: this is for a protocol that is
#' written before there are data, and for choosing a budget.
#'
#' @param formula A model's formula; `NULL` for means of all columns in `bounds`.
#' @param rows The number of rows, or with `unit` of units.
#' @param ... Further arguments of the fit, or of [dp_mean()]: `sparsity`, `intervals`, `method`, `ridge` and so on.
#' @param weight_bounds The bounds of sampling weights, if the fit has any.
#' @inheritParams dp_glm
#' @return A certificate, as [certificate()] gives it.
#' @examples
#' dp_dry_run(sick ~ age, 5000, binomial(), dp_bounds(age = c(18, 90)), epsilon = 1, delta = 1e-6)
#' @export
dp_dry_run <- function(formula, rows, family = gaussian(), bounds, epsilon, delta, unit = NULL, missing = c("fill", "drop", "indicator"),
                       weight_bounds = NULL, bounds_share = NULL, ...) {
  call <- public_call(match.call())
  rows <- whole_number(rows, "rows", call)
  missing <- one_of(missing, "missing", c("fill", "drop", "indicator"), call)
  unit <- word(unit, "unit", call)
  budget <- budget_of(if (!base::missing(epsilon)) epsilon, if (!base::missing(delta)) delta, NULL, call)
  bounds <- bounds_of(if (!base::missing(bounds)) bounds, call)
  if (is.null(formula)) {
    if (!base::missing(family)) refuse("family goes with a formula: leave it out, or give a formula", call = call)
    if (missing == "indicator") refuse("missing = \"indicator\" goes with a formula: give \"fill\" or \"drop\"", call = call)
    if (!is.null(weight_bounds)) refuse("weight_bounds goes with a formula: means have bounds of weights in dp_bounds()", call = call)
    given <- list(...)
    if (!length(given)) given <- list(intervals = 0.95)
    asked <- asked_of_mean(budget, wishes_of(given, WISHES_OF_MEANS, call), missing, call)
    check_budget(budget, call)
    asked$bounds_share <- share_for_bounds(bounds_share, bounds, call)
    schema <- list(intercept = is.null(asked$sparsity) && !isTRUE(grepl("sparsity", asked$tune)), missing = missing, columns = bounds)
    if (!is.null(unit)) schema$unit <- unit
    read <- value_of(.Call(wrap__schema_of_means, schema, asked$by, asked$weights), call)
    return(certificate_of(value_of(.Call(wrap__planned_mean, asked, read, rows), call)))
  }
  asked <- asked_by_wishes(budget, family, wishes_of(list(...), WISHES_OF_FITS, call), 0.95, call)
  if (needs_budget(asked)) check_budget(budget, call)
  read <- read_formula(formula, bounds[setdiff(names(bounds), unit)], unit, call)
  bounds <- with_response(bounds, read$response, asked$family, call)
  asked$bounds_share <- share_for_bounds(bounds_share, bounds[used_columns(read, bounds)], call)
  weights <- if (!is.null(weight_bounds)) {
    name <- utils::tail(make.unique(c(names(bounds), "weights")), 1)
    list(name = name, declared = declared_weights(name, weight_bounds, NULL, call))
  }
  schema <- schema_of_model(read, bounds, missing, unit, weights, call)
  certificate_of(value_of(.Call(wrap__planned_fit, asked, schema, rows), call))
}
