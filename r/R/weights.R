# Sampling weights: private as the rows are, within public bounds.

# An argument as glm() reads it: the name of a column, or an expression of columns and what else there is. What an expression says of a row
# must depend on that row alone: a mean in it would let one row change what is added for all others. Errors of R may show cells.
column_or_value <- function(written, data, frame, call, what = "weights") {
  if (!is.data.frame(data)) data <- NULL
  if (is.name(written) && as.character(written) %in% names(data)) {
    return(as.character(written))
  }
  across <- across_rows(written, c(names(data), all.vars(call$data)))
  if (!is.null(across)) {
    refuse(
      what, ": ", across, " may look at several rows at once, and one row would change what counts for others: give a column, or ",
      "compute from each row by itself, with arithmetic, comparisons, log, exp, sqrt, abs, round, pmin, pmax or ifelse and public constants, as in weights = w / 1200",
      call = call
    )
  }
  wide <- Filter(function(name) inherits(data[[name]], "integer64"), intersect(all.vars(written), names(data)))
  if (is.call(written) && length(wide)) {
    refuse(what, ": column `", wide[1], "` is of class integer64, with which R does not compute: give the column itself, or as.double() of it", call = call)
  }
  # A warning may tell of a cell, and must not become an error.
  tryCatch(suppressWarnings(eval(written, data, frame)), error = function(error) {
    shown <- if (is.name(written)) paste0("there is no column or value `", written, "`") else "this cannot be computed"
    refuse(what, ": ", shown, ": give a column of the data, its name as a text, or one number for each row", call = call)
  })
}

# Functions whose answer for a row is of that row alone.
ROW_BY_ROW <- c(
  "(", "+", "-", "*", "/", "^", "%%", "%/%", "<", "<=", ">", ">=", "==", "!=", "!", "&", "|", "log", "log2", "log10", "log1p", "exp", "expm1",
  "sqrt", "abs", "round", "floor", "ceiling", "pmin", "pmax", "ifelse", "is.na", "as.numeric", "as.double"
)

# What an expression calls, if it may look at several rows at once; else NULL. Rows are in variables of these names; what was
# computed before and has another name cannot be told.
across_rows <- function(part, rows) {
  if (!is.call(part) || is_extracted(part) || !takes_rows(part, rows)) {
    return(NULL)
  }
  if (!is.name(part[[1]])) {
    return("a function")
  }
  name <- as.character(part[[1]])
  # Of a single condition ifelse() gives the first row's value, which stands for all then.
  if (!name %in% ROW_BY_ROW || (name == "ifelse" && !takes_rows(match.call(ifelse, part)$test, rows))) {
    return(paste0("`", name, "()`"))
  }
  for (argument in as.list(part)[-1]) {
    across <- across_rows(argument, rows)
    if (!is.null(across)) {
      return(across)
    }
  }
}

takes_rows <- function(part, rows) {
  if (is.name(part)) {
    return(as.character(part) %in% rows)
  }
  # The shape is public.
  is_shape <- is.call(part) && is.name(part[[1]]) && as.character(part[[1]]) %in% c("nrow", "NROW", "ncol", "names", "colnames") && is.name(part[[2]])
  is.call(part) && !is_shape && any(vapply(as.list(part), takes_rows, TRUE, rows = rows))
}

# A part of a variable by its name, as in people$w.
is_extracted <- function(part) {
  if (!is.call(part)) {
    return(is.name(part))
  }
  by_name <- identical(part[[1]], as.name("$")) || (identical(part[[1]], as.name("[[")) && length(part) == 3 && is.character(part[[3]]))
  by_name && is_extracted(part[[2]])
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
  cells_of(given, "weights", call)
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
