#' Private survival models
#'
#' A piecewise-exponential model with proportional hazards: time is cut into intervals, in each of which the hazard is constant. The
#' exponential of a coefficient is a hazard ratio, that of an interval the hazard there against the first one.
#'
#' @param formula The right side alone, such as `~ age + sex`, with terms as in [dp_glm()].
#' @param time The column of times, from the start to the event or to the end of what is known: a name or a text. Its bounds are above 0, and the
#'   upper one is the longest time.
#' @param event The column that says whether the event came then, and nobody left before: 0 or 1, a truth value, or two levels in `bounds`, the
#'   second the event.
#' @param cuts Where one interval ends and the next begins, ascending, from public knowledge.
#' @param intervals The level of confidence intervals; `NULL` for none.
#' @inheritParams dp_glm
#' @param ... Further arguments as in [dp_glm()]: `ridge`, `radius`, `dispersion` and so on.
#' @return An object of class `dp_fit`. `predict()` gives the probability to survive each end of an interval, a column each.
#' @details
#' All rows that are made of a person's row are protected together.
#' @examples
#' people <- data.frame(age = runif(4000, 40, 90))
#' due <- rexp(4000, exp(-4 + 0.03 * people$age))
#' people$years <- pmin(due, 5)
#' people$died <- due <= 5
#' fit <- dp_survival(~age, people,
#'   time = years, event = died, cuts = c(1, 3), bounds = dp_bounds(age = c(40, 90), years = c(0.001, 5)), epsilon = 2, delta = 1e-6
#' )
#' predict(fit, data.frame(age = c(50, 80)))
#' @export
dp_survival <- function(formula, data, time, event, cuts, bounds, epsilon, delta, intervals = 0.95, unit = NULL, weights = NULL,
                        weight_bounds = NULL, missing = c("fill", "drop", "indicator"), bounds_share = NULL, ledger = NULL, strict = FALSE,
                        insecure_seed = NULL, ...) {
  call <- public_call(match.call())
  wish <- wishes_of(list(...), WISHES_OF_SURVIVAL, call)
  budget <- budget_of(if (!base::missing(epsilon)) epsilon, if (!base::missing(delta)) delta, insecure_seed, call)
  given <- function(name, default = NULL) if (name == "intervals") intervals else wish(name, default)
  asked <- asked_by_wishes(budget, "poisson", given, NULL, call)
  if (!is.numeric(cuts) || !length(cuts) || anyNA(cuts)) {
    refuse("cuts must be numbers, got ", what_is(cuts), ": write them like c(1, 2, 5)", call = call)
  }
  asked$cuts <- I(as.double(cuts))
  missing <- one_of(missing, "missing", c("fill", "drop", "indicator"), call)
  paid <- paid_from(ledger, call)
  if (needs_budget(asked)) {
    check_budget(asked$budget, call)
    expect_ledger(paid, asked$budget, word(unit, "unit", call), call)
  }
  bounds <- bounds_of(if (!base::missing(bounds)) bounds, call)
  data <- frame_of(data, call)
  time <- word(column_or_value(substitute(time), data, parent.frame(), call, "time"), "time", call)
  event <- word(column_or_value(substitute(event), data, parent.frame(), call, "event"), "event", call)
  weights <- weights_of(column_or_value(substitute(weights), data, parent.frame(), call), weight_bounds, data, bounds, call)
  if (!inherits(formula, "formula") || length(formula) != 2) {
    refuse("formula has no left side, which time and event are: write it like ~ age + sex", call = call)
  }
  offset <- base::call("offset", base::call("log", as.name(time)))
  whole <- base::call("~", as.name(event), base::call("+", formula[[2]], offset))
  whole <- structure(whole, class = "formula", .Environment = globalenv())
  bounds <- with_response(bounds, event, "logistic", call)
  fit <- fit_formula(whole, data, bounds, asked, missing, unit, weights, bounds_share, paid, flag(strict, "strict", call), call)
  # Predictions are of survival to every end of an interval, whatever time there was.
  fit$needs <- setdiff(fit$needs, time)
  fit
}

WISHES_OF_SURVIVAL <- c("method", "ridge", "radius", "tune", "dispersion")
