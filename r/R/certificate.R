#' Certificates
#'
#' What left, and what it cost: every release with its noise, the resulting (epsilon, delta) and the whole curve, whom it protects, and the
#' conditions of use. Its claim is computed again from its events whenever it is read.
#'
#' @param x A fit, means or a description; for the methods, a certificate.
#' @param conditions Whether to print the conditions of use.
#' @param ... None; for `plot()`, passed on.
#' @return A list of class `dp_certificate` with `grade` (`"certified"`, `"conditional"` or `"none"`), `epsilon`, `delta`, `events`, `curve`,
#'   `enforced`, `conditions` and `assumptions`.
#' @examples
#' mean <- dp_mean(data.frame(x = runif(500)), dp_bounds(x = c(0, 1)), epsilon = 1, delta = 1e-6)
#' certificate(mean)$epsilon
#' @export
certificate <- function(x, ...) UseMethod("certificate")

#' @rdname certificate
#' @export
certificate.dp_artefact <- function(x, ...) {
  read <- value_of(.Call(wrap__certificate_of, x$json), sys.call())
  certificate_of(read)
}

certificate_of <- function(read) {
  document <- read$document
  document$json <- read$json
  document$text <- read$text
  document["assumptions"] <- list(as.character(unlist(document$assumptions)))
  for (name in c("conditions", "enforced")) document[[name]] <- as.character(unlist(document[[name]]))
  structure(document, class = "dp_certificate")
}

#' @rdname certificate
#' @export
print.dp_certificate <- function(x, conditions = FALSE, ...) {
  said <- trimws(x$text, "right")
  cat(said, "\n", sep = "")
  if (conditions && length(x$conditions)) {
    cat("Conditions of use:\n")
    for (condition in x$conditions) cat(strwrap(condition, prefix = "  ", initial = "- "), sep = "\n")
  } else if (length(x$conditions)) {
    cat(length(x$conditions), " conditions of use: print(certificate, conditions = TRUE)\n", sep = "")
  }
  invisible(x)
}

#' @rdname certificate
#' @export
plot.dp_certificate <- function(x, ...) {
  curve <- x$curve
  if (!length(curve)) refuse("nothing is promised, so there is no curve to draw", call = sys.call())
  points <- if (is.list(curve)) do.call(rbind, lapply(curve, function(point) as.double(unlist(point)))) else matrix(curve, ncol = 2)
  points <- points[points[, 2] > 0, , drop = FALSE]
  graphics::plot(points[, 1], points[, 2], type = "l", log = "y", xlab = "epsilon", ylab = "delta", ...)
  invisible(x)
}
