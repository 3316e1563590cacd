#' Private linear regression and generalized linear models
#'
#' Fits a model by formula with one privacy budget, and gives coefficients with confidence intervals that can be published, and a
#' certificate that says what left and what it cost ([certificate()]).
#'
#' @param formula A formula such as `log(charges) ~ age * sex + I(age^2) + ns(bmi, knots = c(25, 30))`. The response is a column, or a function
#'   of columns. Terms are columns, interactions and functions of one row: `I`, `log`, `log2`, `log10`, `log1p`, `exp`, `expm1`, `sqrt`, `abs`, `pmin`, `pmax`,
#'   arithmetic, and the curves `ns`, `bs` and `pieces` with knots that you give. Their bounds follow from those of their columns. The dot stands for all
#'   columns in `bounds` but the response. `scale()`, `poly()`, and splines without knots are refused: they are computed from all rows, and would leak.
#'   In Poisson, gamma and Tweedie models `offset(log(years))` names a column of exposures.
#' @param data A data frame, or a table of package \pkg{arrow}. Its names, types and number of rows are taken to be public, and nothing else.
#' @param family `gaussian()`, `binomial()` with link logit, probit or cloglog, `poisson()`, `quasipoisson()` and `Gamma(link = "log")`, as
#'   functions, calls or names (a name is R's: `"Gamma"` has the inverse link, and is refused); or `"multinomial"` or `"tweedie"`. With `binomial()` the second level of the response is modelled against the
#'   first; a response without an entry in `bounds`, or with `c(0, 1)`, is 0 or 1, or a truth value. `quasipoisson()` is `poisson()` with `dispersion = TRUE`.
#' @param bounds Public bounds or levels of every column, from [dp_bounds()] or [dp_schema()]: never read off the rows.
#' @param epsilon,delta The budget. There is no default: choose the privacy loss you can defend, and `delta` well below 1/n. `epsilon = Inf` with `delta = NULL` runs
#'   the same algorithm without noise and promises nothing.
#' @param intervals The level of confidence intervals, paid from the same budget; `NULL` for none, which leaves more of it to the coefficients.
#'   With a `method`, `sparsity` or `tune` of your choice there are none unless you ask; with `sparsity` they cost half of the rows.
#' @param sparsity At most so many coefficients differ from zero; the columns are chosen privately.
#' @param unit The column that says whose row each row is: the promise is then for all rows of a person together.
#' @param weights Sampling weights, as of a survey: how many people each row stands for. A column of `data`, as a name or a text, or one number
#'   for each row. An expression is computed from each
#'   row by itself, such as `w / 1200`: a mean of the rows in it is refused, for one row would change what is added for others.
#'   Weights are as private as the rows. Estimates are weighted then, and standard errors design-based.
#' @param weight_bounds Public bounds of the weights, such as `c(0, 200000)`; weights beyond count as the nearest end. Not needed for a column
#'   that has bounds in `bounds`.
#' @param missing `"fill"`: a missing cell counts as the middle of its bounds, or as the reference. `"drop"`: its row counts for nothing.
#'   `"indicator"`: it is filled, and a column of its own, `age=missing`, says where; a row whose response is missing counts for nothing.
#' @param method How to fit, by its name on the command line, such as `"likelihood"` or `"statistics"`.
#' @param dispersion Also release the dispersion, by how much responses vary more than their means say, paid from the same budget:
#'   `summary(fit)$dispersion`. It is a clipped mean, so it comes out too small where the budget is small for the rows. Standard errors hold
#'   without it.
#' @param power The power of the mean in the variance, from 1.01 to 1.99, for `family = "tweedie"`: 1.5 by default.
#' @param robust Short for `method = "bounded-score"`: no row's score counts for more than a typical one's. It estimates what a robust fit does.
#' @param ridge,radius Penalty on, and largest value of, the coefficients' l2 norm, for columns scaled to \[-1, 1\].
#' @param tune What to choose privately from the same budget: `"sparsity=auto"` or `"ridge=auto"`.
#' @param row_norm,l1_radius,accept For particular methods, as on the command line.
#' @param bounds_share The part of the budget that finds bounds of columns with [dp_magnitude()], a tenth by default.
#' @param ledger A ledger that pays, from [dp_ledger()].
#' @param strict Stop at the first cell that is missing, out of bounds or undeclared. Whether it stops depends on private cells: for the
#'   data's curator only.
#' @param insecure_seed Draw the noise from a fixed seed, for experiments: nothing is promised then. The same seed and rows give the artefact
#'   that the command `dpglm` writes, byte for byte.
#' @param ... Further arguments of `dp_glm()`.
#'
#' @return An object of class `dp_fit`; see [dp_fit-methods]. It holds no row.
#' @details
#' Cells that do not fit never stop a fit: a number outside its bounds counts as the nearest end, an undeclared level as the reference.
#' What was changed so is told in a message of class `dpglm_curator_note`, which is not for publication.
#'
#' Errors have class `dpglm_error`, those about arguments `dpglm_usage_error` too. A fit can be interrupted, and then nothing of it is released; what a
#' ledger paid for it stays paid.
#'
#' @examples
#' set.seed(1)
#' people <- data.frame(age = runif(5000, 18, 90), sex = sample(c("Female", "Male"), 5000, TRUE))
#' people$income <- rbinom(5000, 1, plogis(-2 + 0.03 * people$age + 0.5 * (people$sex == "Male")))
#' fit <- dp_glm(income ~ age + sex, people,
#'   family = binomial(),
#'   bounds = dp_bounds(age = c(17, 90), sex = c("Female", "Male")),
#'   epsilon = 1, delta = 1e-6
#' )
#' fit
#' confint(fit)
#' certificate(fit)
#' @export
dp_glm <- function(formula, data, family = gaussian(), bounds, epsilon, delta,
                   intervals = if (is.null(method) && is.null(sparsity) && is.null(tune) && !robust) 0.95, sparsity = NULL, unit = NULL, weights = NULL,
                   weight_bounds = NULL, missing = c("fill", "drop", "indicator"), method = NULL, robust = FALSE, ridge = NULL, radius = NULL,
                   tune = NULL, row_norm = NULL, l1_radius = NULL, accept = NULL, dispersion = FALSE, power = NULL,
                   bounds_share = NULL, ledger = NULL, strict = FALSE, insecure_seed = NULL) {
  call <- public_call(match.call())
  asked <- asked_of_fit(
    budget_of(if (!base::missing(epsilon)) epsilon, if (!base::missing(delta)) delta, insecure_seed, call),
    family, intervals, sparsity, method, robust, ridge, radius, tune, row_norm, l1_radius, accept, dispersion, power, call
  )
  missing <- one_of(missing, "missing", c("fill", "drop", "indicator"), call)
  strict <- flag(strict, "strict", call)
  paid <- paid_from(ledger, call)
  if (needs_budget(asked)) expect_ledger(paid, asked$budget, word(unit, "unit", call), call)
  bounds <- bounds_of(if (!base::missing(bounds)) bounds, call)
  data <- frame_of(data, call)
  weights <- weights_of(column_or_value(substitute(weights), data, parent.frame(), call), weight_bounds, data, bounds, call)
  fit_formula(formula, data, bounds, asked, missing, unit, weights, bounds_share, paid, strict, call)
}

# Fits what is asked by formula, from arguments that were looked at.
fit_formula <- function(formula, data, bounds, asked, missing, unit, weights, bounds_share, paid, strict, call) {
  others <- c(unit, weights$name)
  # What survival explains, its two columns say.
  read <- read_formula(formula, bounds[setdiff(names(bounds), others)], others, call, with_left = is.null(asked$cuts))
  bounds <- with_response(bounds, read$response, asked$family, call)
  asked$bounds_share <- share_for_bounds(bounds_share, bounds[used_columns(read, bounds)], call)
  if (needs_budget(asked)) check_budget(asked$budget, call)
  schema <- schema_of_model(read, bounds, missing, unit, weights, call)
  table <- encode(how_to_read(strict = strict, constant = TRUE), schema, cells_of_model(read, data, unit, weights, call), call)
  done <- result_of(value_of(.Call(wrap__start_fit, table$table, asked, paid), call), call)
  tell(done$said, table$notes, call)
  fitted <- dp_artefact(done$json)
  # A formula keeps the environment it was written in, and with it whatever rows are there; nor is what hangs on it needed.
  attributes(formula) <- list(class = "formula", .Environment = globalenv())
  # What predictions read of new rows.
  needs <- c(read$features, read$exposure)
  structure(c(unclass(fitted), list(call = call, formula = formula, needs = needs)), class = class(fitted))
}

#' @rdname dp_glm
#' @export
dp_lm <- function(formula, data, bounds, epsilon, delta, ...) {
  written <- match.call()
  call <- public_call(written)
  if (!is.null(call$family)) refuse("family: dp_lm() fits linear regression: leave out family, or use dp_glm()", call = call)
  forwarded <- written
  forwarded[[1]] <- quote(dpglm::dp_glm)
  forwarded$family <- "gaussian"
  fit <- eval(forwarded, parent.frame())
  fit$call <- call
  fit
}

asked_of_fit <- function(budget, family, intervals, sparsity, method, robust, ridge, radius, tune, row_norm, l1_radius, accept, dispersion,
                         power, call) {
  family <- family_name(family, call)
  list(
    budget = budget, family = if (family == "quasipoisson") "poisson" else family, power = number(power, "power", call),
    dispersion = flag(dispersion, "dispersion", call) || family == "quasipoisson", method = word(method, "method", call), robust = flag(robust, "robust", call),
    ridge = number(ridge, "ridge", call), radius = number(radius, "radius", call), intervals = number(intervals, "intervals", call),
    tune = word(tune, "tune", call), sparsity = whole_number(sparsity, "sparsity", call), row_norm = number(row_norm, "row_norm", call),
    l1_radius = number(l1_radius, "l1_radius", call), accept = word(accept, "accept", call), uniform = FALSE, bounds_share = NULL, cuts = NULL
  )
}

WISHES_OF_FITS <- c("intervals", "sparsity", "method", "robust", "ridge", "radius", "tune", "row_norm", "l1_radius", "accept", "dispersion", "power")
WISHES_OF_MEANS <- c("sparsity", "method", "deviations", "intervals", "by", "weights", "precision", "tune")

# Further arguments by name; others than those known are refused.
wishes_of <- function(given, known, call) {
  unknown <- setdiff(names(given), known)
  if (length(unknown) || (length(given) && is.null(names(given)))) {
    refuse("unused argument ", c(unknown, "without a name")[1], ": give some of ", paste(known, collapse = ", "), call = call)
  }
  function(name, default = NULL) if (name %in% names(given)) given[[name]] else default
}

# What is asked of a fit by such arguments; there are intervals of this level unless a method is chosen.
asked_by_wishes <- function(budget, family, wish, level, call) {
  plain <- is.null(wish("method")) && is.null(wish("sparsity")) && is.null(wish("tune")) && !isTRUE(wish("robust"))
  asked_of_fit(
    budget, family, wish("intervals", if (plain) level), wish("sparsity"), wish("method"), wish("robust", FALSE), wish("ridge"),
    wish("radius"), wish("tune"), wish("row_norm"), wish("l1_radius"), wish("accept"), wish("dispersion", FALSE),
    wish("power"), call
  )
}

needs_budget <- function(asked) !isTRUE(asked$method %in% c("reference", "iht"))

# R's families under the library's names, for each link that there is.
FAMILIES <- list(
  gaussian = c(identity = "gaussian"), binomial = c(logit = "logistic", probit = "probit", cloglog = "cloglog"), poisson = c(log = "poisson"),
  quasipoisson = c(log = "quasipoisson"), Gamma = c(log = "gamma")
)

# Those of two levels.
BINARY <- c("logistic", "probit", "cloglog")

family_name <- function(family, call) {
  if (is.function(family)) family <- family()
  # As in R a name is that of the function: "Gamma" has the inverse link.
  if (is.character(family) && length(family) == 1) {
    if (!family %in% names(FAMILIES)) {
      return(family)
    }
    family <- getExportedValue("stats", family)()
  }
  if (!inherits(family, "family")) {
    refuse("family must be a family such as binomial(), got ", what_is(family), call = call)
  }
  name <- family$family
  links <- FAMILIES[[name]]
  if (is.null(links)) {
    refuse(
      "family ", name, " is not there: choose gaussian(), binomial(), poisson(), quasipoisson(), Gamma(link = \"log\"), \"multinomial\" or \"tweedie\"",
      call = call
    )
  }
  if (!family$link %in% names(links)) {
    refuse(
      "family ", name, " has the link ", paste(names(links), collapse = " or "), " here, got ", family$link, ": write ", name, "(link = \"",
      names(links)[1], "\")",
      call = call
    )
  }
  links[[family$link]]
}

one_of <- function(value, name, choices, call) {
  if (identical(value, choices)) {
    return(choices[1])
  }
  if (!is.character(value) || length(value) != 1 || !value %in% choices) {
    refuse(name, " must be one of ", paste0("\"", choices, "\"", collapse = ", "), ", got ", format(value)[1], call = call)
  }
  value
}

# A response of two levels needs no declaration: it is 0 or 1, or a truth value. Bounds of 0 and 1 say the same.
with_response <- function(bounds, response, family, call, remedy = NULL) {
  # What is made of columns has bounds that follow from theirs.
  if (is.null(response)) {
    return(bounds)
  }
  declared <- bounds[[response]]
  is_pair <- !is.null(declared) && identical(as.double(declared$bounds), c(0, 1)) && is.null(declared$fill)
  if (isTRUE(family %in% BINARY) && (is.null(declared) || is_pair)) {
    bounds[[response]] <- unclass(dp_levels(0:1))
  } else if (is.null(declared)) {
    what <- if (identical(family, "multinomial")) "c(\"first\", \"second\", ...), its levels," else "c(LOW, HIGH)"
    refuse(
      "no bounds for the response `", response, "`: ",
      if (is.null(remedy)) paste0("add ", response, " = ", what, " to dp_bounds()") else paste0("give ", remedy, " = ", what),
      ", from public knowledge",
      call = call
    )
  }
  if (identical(family, "poisson") && !is.null(bounds[[response]]$magnitude)) bounds[[response]]$kind <- "count"
  bounds
}
