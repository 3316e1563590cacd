# Sampling weights: private as the rows are, within public bounds.

# An argument as glm() reads it: the name of a column, or an expression of columns and what else there is.
column_or_value <- function(written, data, frame, call, what = "weights") {
  if (!is.data.frame(data)) data <- NULL
  if (is.name(written) && as.character(written) %in% names(data)) {
    return(as.character(written))
  }
  tryCatch(eval(written, data, frame), error = function(error) refuse(what, ": ", conditionMessage(error), call = call))
}

# Name, declaration and cells of the weights, which are a column or one number for each row; NULL without weights.
weights_of <- function(given, weight_bounds, data, bounds, call) {
  if (is.null(given)) {
    if (!is.null(weight_bounds)) refuse("weight_bounds goes with weights: give weights, or leave out weight_bounds", call = call)
    return(NULL)
  }
  if (is.character(given) && length(given) == 1) {
    cells <- cells_of(column_of(data, given, call), given, call)
    return(list(name = given, declared = declared_weights(given, weight_bounds, bounds[[given]], call), cells = cells))
  }
  cells <- row_weights(given, nrow(data), call)
  name <- utils::tail(make.unique(c(names(data), names(bounds), "weights")), 1)
  list(name = name, declared = declared_weights(name, weight_bounds, NULL, call), cells = cells)
}

row_weights <- function(given, rows, call) {
  if (!is.numeric(given) || length(given) != rows) {
    refuse("weights must be a column, or one number for each of ", rows, " rows, got ", what_is(given), call = call)
  }
  as.double(given)
}

declared_weights <- function(name, weight_bounds, declared, call) {
  if (is.null(weight_bounds)) {
    if (is.null(declared)) refuse_unbounded_weights(call)
    return(declared)
  }
  if (!is.null(declared)) {
    refuse("weights: column `", name, "` has bounds already: leave out weight_bounds, or the entry in dp_bounds()", call = call)
  }
  pair <- pair_of_numbers(weight_bounds, "weight_bounds", call)
  unclass(number_column(pair[1], pair[2], "weight_bounds", call = call))
}

refuse_unbounded_weights <- function(call) {
  refuse(
    "weights need public bounds and these have no default: give weight_bounds = c(LOW, HIGH), such as c(0, 200000) of a survey",
    call = call
  )
}
