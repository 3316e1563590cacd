#' One page for readers
#'
#' One offline HTML page: what was found in plain sentences, what the promise means for somebody in the data, all estimates, and the points that
#' a reviewer asks. Several results are compared on one page.
#'
#' @param ... Results of [dp_glm()], [dp_mean()], [dp_describe()], [dp_plan()] or [dp_audit()], or paths of files that they or the command wrote. Arguments with names
#'   are called so on the page. A page of an audit is for the curator only, and says so.
#' @param file Where to write the page.
#' @param ledger A ledger, or its path: the page then tells what it promises for all together, and which line paid for each.
#' @return The page as one text, invisibly if it was written to a file.
#' @examples
#' mean <- dp_mean(data.frame(x = runif(500)), dp_bounds(x = c(0, 1)), epsilon = 1, delta = 1e-6)
#' file <- tempfile(fileext = ".html")
#' dp_report("Mean of x" = mean, file = file)
#' @export
dp_report <- function(..., file = NULL, ledger = NULL) {
  call <- sys.call()
  results <- list(...)
  if (!length(results)) refuse("a report needs at least one result: give a fit, say", call = call)
  texts <- vapply(results, text_of_result, "", call = call)
  kinds <- vapply(results, function(result) if (is.character(result)) basename(result) else class(result)[1], "")
  given <- names(results)
  if (is.null(given)) given <- rep("", length(results))
  if (anyDuplicated(kinds)) kinds <- paste0(seq_along(kinds), ". ", kinds)
  names <- ifelse(given == "", kinds, given)
  path <- if (!is.null(ledger)) path_of_ledger(ledger, call)
  page <- value_of(.Call(wrap__report_page, enc2utf8(names), enc2utf8(unname(texts)), path), call)
  if (is.null(file)) {
    return(page)
  }
  value_of(.Call(wrap__write_file, page, path.expand(word(file, "file", call))), call)
  invisible(page)
}

text_of_result <- function(result, call) {
  if (is.character(result) && length(result) == 1) {
    if (!file.exists(result)) refuse("there is no file ", result, call = call, usage = FALSE)
    return(text_of_file(result))
  }
  if (!inherits(result, c("dp_artefact", "dp_plan", "dp_audit"))) {
    refuse("a result of this package is needed, got ", what_is(result), ": give a fit, say", call = call)
  }
  result$json
}
