#' A budget for many fits
#'
#' A ledger is a file that fixes a total privacy loss once, and from which fits, means and descriptions are paid. What will be released is
#' entered, and on disk, before any row is computed with; a fit for which there is no room is refused and says what would fit. Every
#' fit may depend on the results of earlier ones, its budget included: the total holds all the same.
#'
#' @param file The ledger's path. `dp_ledger_create()` never overwrites a file.
#' @param data,purpose The name of the data and what for: entered with each release.
#' @param epsilon,delta The total. `delta = NULL` for a pure one.
#' @param reserve The part of `delta` for releases of which no more is known than that they are (e, d) private: none by default, and a ledger
#'   without it refuses them.
#' @param rule How releases add up: `"gdp"`, `"zcdp"` or `"pure"`.
#' @param unit The column whose ids say whose row a row is, if people have several rows.
#' @param protects Without `unit`, whom it protects: `"row"`, a user's `"record"` or `"label"` on their device, or a `"pair"`.
#' @param about What the ledger is about.
#' @param ledger A ledger, or its path.
#' @param head The hash of a line that was kept elsewhere: an error if no line has it, because the file was cut off or written again.
#' @param x,object,... For the methods.
#' @return `dp_ledger()` and `dp_ledger_create()` a ledger, to be given to fits as `ledger`; `dp_remaining()` the largest epsilon of one more release with
#'   Gaussian noise; `summary()` all that it holds, as a list; `dp_ledger_verify()` the ledger, or an error.
#' @examples
#' ledger <- dp_ledger_create(tempfile(fileext = ".ledger"), epsilon = 4, delta = 1e-6, data = "visits", purpose = "mean stay")
#' stay <- dp_mean(data.frame(days = rexp(2000, 1 / 5)), dp_bounds(days = c(0, 60)), epsilon = 1, delta = 1e-6, ledger = ledger)
#' ledger
#' dp_remaining(ledger)
#' @export
dp_ledger <- function(file, data = "", purpose = "") {
  call <- sys.call()
  ledger <- list(path = path.expand(word(file, "file", call)), data = word(data, "data", call), purpose = word(purpose, "purpose", call))
  value_of(.Call(wrap__show_ledger, ledger$path), call)
  structure(ledger, class = "dp_ledger")
}

#' @rdname dp_ledger
#' @export
dp_ledger_create <- function(file, epsilon, delta, reserve = 0, rule = "gdp", unit = NULL, protects = "row", about = "", data = "",
                             purpose = "") {
  call <- sys.call()
  asked <- list(
    epsilon = number(epsilon, "epsilon", call), delta = number(delta, "delta", call), reserve = number(reserve, "reserve", call),
    rule = one_of(rule, "rule", c("gdp", "zcdp", "pure"), call), unit = word(unit, "unit", call),
    protects = one_of(protects, "protects", c("row", "record", "label", "pair"), call), about = word(about, "about", call)
  )
  value_of(.Call(wrap__create_ledger, path.expand(word(file, "file", call)), asked), call)
  dp_ledger(file, data, purpose)
}

#' @rdname dp_ledger
#' @export
dp_remaining <- function(ledger, delta = NULL) {
  call <- sys.call()
  path <- path_of_ledger(ledger, call)
  if (is.null(delta)) delta <- value_of(.Call(wrap__show_ledger, path), call)$terms$delta
  value_of(.Call(wrap__room_in_ledger, path, number(delta, "delta", call)), call)
}

#' @rdname dp_ledger
#' @export
dp_ledger_verify <- function(ledger, head = NULL) {
  call <- sys.call()
  path <- path_of_ledger(ledger, call)
  value_of(.Call(wrap__show_ledger, path), call)
  if (!is.null(head) && !value_of(.Call(wrap__ledger_holds, path, word(head, "head", call)), call)) {
    refuse(path, ": no line has the hash ", head, ": the ledger was cut off, or written again, since it was shown", call = call, usage = FALSE)
  }
  invisible(ledger)
}

#' @rdname dp_ledger
#' @export
summary.dp_ledger <- function(object, ...) value_of(.Call(wrap__show_ledger, object$path), sys.call())

#' @rdname dp_ledger
#' @export
print.dp_ledger <- function(x, ...) {
  shown <- summary(x)
  cat("Ledger ", x$path, ": epsilon ", rounded_up(shown$terms$epsilon), ", delta ", format(shown$terms$delta), "\n", sep = "")
  cat(length(shown$charges), " charges; ", rounded_up(100 * shown$spent / shown$limit), "% spent\n", sep = "")
  if (length(shown$assuming) > 0) cat("Provided that ", paste(shown$assuming, collapse = " and that "), "\n", sep = "")
  invisible(x)
}

path_of_ledger <- function(ledger, call) {
  if (inherits(ledger, "dp_ledger")) ledger$path else path.expand(word(ledger, "ledger", call))
}

# A ledger as the library takes it.
paid_from <- function(ledger, call) {
  if (is.null(ledger)) {
    return(NULL)
  }
  if (!inherits(ledger, "dp_ledger")) {
    refuse("ledger must be a ledger: open one with dp_ledger(file), or make one with dp_ledger_create(file, ...)", call = call)
  }
  unclass(ledger)
}

# Refuses what the ledger certainly has no room for, and units that it does not protect: before a row is read.
expect_ledger <- function(paid, budget, unit, call) {
  if (!is.null(paid)) value_of(.Call(wrap__expect_ledger, paid, budget, unit), call)
}
