#' Audit a method
#'
#' Attacks a method on rows like yours and bounds its epsilon from below, beside what it claims: plants pairs of canary rows, of which a coin
#' chooses one each, and tries to tell from the estimate which; runs the method many times on two tables that differ in one row; and asks
#' how well members can be told from held-out rows. The result depends on private rows and nothing pays for it: it is for the
#' curator, not for publication.
#'
#' @param data A data frame, under the same bounds as a fit.
#' @param formula A model's formula; `NULL` audits means of all columns in `bounds`.
#' @param runs How often the method is run on two neighbouring tables.
#' @param canaries How many canaries are planted.
#' @param opposite What the rows of a pair differ in: `"response"` or `"features"`.
#' @param confidence The confidence of the lower bounds.
#' @param without_noise Whether the method runs without noise, which an audit must catch.
#' @param missing `"fill"`: a missing cell counts as the middle of its bounds, or as the reference. `"drop"`: its row counts for nothing.
#' @param ... Further arguments of a fit: `sparsity`, `intervals`, `method`, `ridge` and so on.
#' @param x For the methods.
#' @inheritParams dp_glm
#' @return A list of class `dp_audit` with `lower_bound`, `exceeds_claim` and all details.
#' @examples
#' people <- data.frame(age = runif(400, 18, 90), sick = rbinom(400, 1, 0.3))
#' dp_audit(people, sick ~ age, binomial(), dp_bounds(age = c(18, 90)), epsilon = 1, delta = 1e-6, runs = 0)
#' @export
dp_audit <- function(data, formula = NULL, family = gaussian(), bounds, epsilon, delta, runs = 400, canaries = NULL, opposite = NULL,
                     confidence = 0.95, without_noise = FALSE, missing = c("fill", "drop"), strict = FALSE, insecure_seed = NULL, ...) {
  call <- public_call(match.call())
  missing <- one_of(missing, "missing", c("fill", "drop"), call)
  how <- list(
    runs = whole_number(runs, "runs", call), canaries = whole_number(canaries, "canaries", call), opposite = word(opposite, "opposite", call),
    confidence = number(confidence, "confidence", call), without_noise = flag(without_noise, "without_noise", call)
  )
  budget <- budget_of(if (!base::missing(epsilon)) epsilon, if (!base::missing(delta)) delta, insecure_seed, call)
  wish <- wishes_of(list(...), if (is.null(formula)) WISHES_OF_MEANS else WISHES_OF_FITS, call)
  bounds <- if (!base::missing(bounds)) bounds
  if (is.null(formula)) {
    if (!base::missing(family)) refuse("family goes with a formula: leave it out, or give a formula", call = call)
    asked <- asked_of_mean(budget, wish, missing, call)
    table <- table_of_means(data, bounds, asked, NULL, strict, NULL, call)
    asked <- table$asked
  } else {
    asked <- asked_by_wishes(budget, family, wish, NULL, call)
    if (asked$dispersion) refuse("dispersion cannot be had with an audit: leave out dispersion, and write poisson() for quasipoisson()", call = call)
    bounds <- bounds_of(bounds, call)
    data <- frame_of(data, call)
    read <- read_formula(formula, bounds, NULL, call)
    bounds <- with_response(bounds, read$response, asked$family, call)
    if (is_searched(bounds[used_columns(read, bounds)])) {
      refuse("dp_magnitude(): an audit cannot follow a search for bounds: declare bounds", call = call)
    }
    read_as <- how_to_read(strict = flag(strict, "strict", call), constant = TRUE)
    table <- encode(read_as, schema_of_model(read, bounds, missing, NULL, NULL, call), cells_of_model(read, data, NULL, NULL, call), call)
  }
  done <- result_of(value_of(.Call(wrap__start_audit, table$table, asked, how, is.null(formula)), call), call)
  found <- value_of(.Call(wrap__open_json, done$json), call)
  structure(c(found[-1], list(json = done$json, text = done$text, call = call)), class = "dp_audit")
}

#' @rdname dp_audit
#' @export
print.dp_audit <- function(x, ...) {
  cat(x$text)
  invisible(x)
}
