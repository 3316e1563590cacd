#' From noise to a guarantee, and from a budget to noise
#'
#' `dp_account()` says what releases cost together, `dp_calibrate()` how much noise they need. Releases are events, made by the functions below; a
#' certificate lists its own in `certificate(fit)$events`.
#'
#' @param events,template One event, or a list of events. All noise of a template is multiplied by one factor.
#' @param epsilon,delta The budget. `delta = NULL` asks for a pure guarantee, which Gaussian noise cannot give.
#' @param spent Events that count against the budget and keep their noise.
#' @param sensitivity By how much one row can change the release: in the l2 norm for Gaussian noise, in the l1 norm for Laplace noise.
#' @param sigma,scale The standard deviation, or the scale, of the noise.
#' @param rho The parameter of zero-concentrated privacy.
#' @param count How many such releases there are.
#' @param release What it is called.
#' @param x,... For the methods.
#' @return `dp_account()` a list with `epsilon`, `delta`, `bound` (which bound gave them) and `curve`, a data frame; `dp_calibrate()` a list of events; the
#'   others an event.
#' @examples
#' dp_account(dp_gaussian(sensitivity = 1, sigma = 4, count = 20), delta = 1e-5)
#' dp_account(dp_laplace(sensitivity = 1, scale = 4), delta = NULL)
#' dp_calibrate(dp_gaussian(sensitivity = 1, sigma = 1, count = 20), epsilon = 0.5, delta = 1e-5)
#' @export
dp_account <- function(events, delta) {
  call <- sys.call()
  listed <- events_of(events, "events", call)
  found <- value_of(.Call(wrap__account_events, listed, number(delta, "delta", call)), call)
  found$curve <- as.data.frame(found$curve)
  found$events <- listed
  structure(found, class = "dp_guarantee")
}

#' @rdname dp_account
#' @export
print.dp_guarantee <- function(x, ...) {
  cat("epsilon ", rounded_up(x$epsilon), " at delta ", rounded_up(x$delta), ", by ", x$bound, "\n", sep = "")
  invisible(x)
}

rounded_up <- function(x) value_of(.Call(wrap__rounded_up, x))

#' @rdname dp_account
#' @export
dp_calibrate <- function(template, epsilon, delta, spent = list()) {
  call <- sys.call()
  found <- value_of(.Call(
    wrap__calibrate_events, events_of(template, "template", call), events_of(spent, "spent", call),
    number(epsilon, "epsilon", call), number(delta, "delta", call)
  ), call)
  lapply(found, function(event) structure(event, class = "dp_event"))
}

#' @rdname dp_account
#' @export
dp_gaussian <- function(sensitivity, sigma, count = 1, release = "") {
  event("gaussian", release, count, sensitivity = sensitivity, sigma = sigma, call = sys.call())
}

#' @rdname dp_account
#' @export
dp_laplace <- function(sensitivity, scale, count = 1, release = "") {
  event("laplace", release, count, sensitivity = sensitivity, scale = scale, call = sys.call())
}

#' @rdname dp_account
#' @export
dp_selection <- function(sensitivity, scale, count = 1, release = "") {
  event("selection", release, count, sensitivity = sensitivity, scale = scale, call = sys.call())
}

#' @rdname dp_account
#' @export
dp_pure <- function(epsilon, count = 1, release = "") event("pure", release, count, epsilon = epsilon, call = sys.call())

#' @rdname dp_account
#' @export
dp_zcdp <- function(rho, count = 1, release = "") event("zcdp", release, count, rho = rho, call = sys.call())

event <- function(mechanism, release, count, ..., call) {
  numbers <- list(...)
  numbers <- Map(function(x, name) number(x, name, call), numbers, names(numbers))
  count <- whole_number(count, "count", call)
  structure(c(list(release = word(release, "release", call), mechanism = mechanism), numbers, list(count = count)), class = "dp_event")
}

#' @export
print.dp_event <- function(x, ...) {
  numbers <- x[setdiff(names(x), c("release", "mechanism"))]
  numbers <- Filter(function(value) is.numeric(value) && length(value) == 1, numbers)
  # What is promised is rounded up, and the noise that it rests on is not made larger than it is.
  shown <- function(value, name) if (name %in% c("epsilon", "delta", "rho")) rounded_up(value) else format(value, digits = 15)
  said <- paste(names(numbers), Map(shown, numbers, names(numbers)), collapse = ", ")
  cat(x$mechanism, if (nzchar(x$release %||% "")) paste0(" (", x$release, ")"), ": ", said, "\n", sep = "")
  invisible(x)
}

events_of <- function(events, name, call) {
  if (is.list(events) && !is.null(events$mechanism)) events <- list(events)
  if (!is.list(events) || !all(vapply(events, function(event) is.list(event) && !is.null(event$mechanism), TRUE))) {
    refuse(name, " must be events, such as dp_gaussian(sensitivity = 1, sigma = 4), or a list of them", call = call)
  }
  lapply(unname(events), unclass)
}
