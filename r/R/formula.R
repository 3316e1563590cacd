# Formulas. What computes anything is read by the library, as for the command and Python: every term is a function of one row, and its
# bounds follow from the declared ones of its columns. What would need the rows themselves (scale(), poly(), knots that are not given,
# levels that are not declared) is refused there: means, knots and levels that are read off private rows leak. A formula of columns by
# themselves needs no reader: its columns are the features.

# What a formula asks for: the text for the library, NULL where all terms are columns by themselves; the response, NULL where it is made of
# columns; the columns that are read for terms and for the response; whether there is an intercept; and the column of exposures. Those that
# are spared have another role. The text says what is explained, unless something else does.
read_formula <- function(formula, bounds, spared, call, with_left = TRUE) {
  if (!inherits(formula, "formula")) {
    refuse("formula must be a formula, got ", what_is(formula), ": write it like income ~ age + sex", call = call)
  }
  if (length(formula) != 3) {
    refuse("the formula has no response on its left side: write it like income ~ age + sex", call = call)
  }
  left <- formula[[2]]
  response <- if (is.name(left)) as.character(left) else column_of_levels(left)
  explained <- if (is.null(response)) all.vars(left) else response
  # The dot stands for what is declared, not for what the data frame happens to hold.
  others <- setdiff(names(bounds), c(explained, columns_of_offsets(formula[[3]])))
  skeleton <- structure(rep(list(numeric(0)), length(others)), names = others, row.names = integer(0), class = "data.frame")
  read <- tryCatch(
    stats::terms(formula, data = skeleton),
    error = function(error) refuse("the formula cannot be read: ", conditionMessage(error), call = call)
  )
  variables <- as.list(attr(read, "variables"))[-1]
  offsets <- attr(read, "offset")
  exposure <- exposure_of(variables[offsets], call)
  labels <- attr(read, "term.labels")
  if (!length(labels)) {
    refuse("the formula has no columns on its right side: give at least one", call = call)
  }
  terms <- lapply(labels, function(label) variables[attr(read, "factors")[, label] > 0])
  used <- unique(unlist(lapply(terms, function(term) lapply(term, columns_in))))
  for (name in intersect(c(used, explained, exposure), spared)) {
    refuse("weights, unit: column `", name, "` is in the formula too: leave it out there", call = call)
  }
  undeclared <- setdiff(c(used, if (is.null(response)) explained), c(names(bounds), response))
  if (length(undeclared)) refuse_undeclared(undeclared[1], call)
  intercept <- attr(read, "intercept") == 1
  features <- lapply(terms, function(term) if (length(term) == 1) plain_column(term[[1]], bounds, intercept))
  is_plain <- !is.null(response) && !any(vapply(features, is.null, TRUE))
  text <- if (!is_plain) paste("~", text_of(right_side(formula[[3]], terms, intercept, call), call))
  if (!is_plain && with_left) text <- paste(text_of(left, call), text)
  list(
    text = text, target = if (is_plain || !with_left) response, response = response, explained = explained, features = if (is_plain) unique(unlist(features)) else used, intercept = intercept,
    exposure = exposure
  )
}

refuse_undeclared <- function(name, call) {
  refuse(
    "no bounds for column `", name, "`: add ", name, " = c(LOW, HIGH), or its levels as a character vector, to dp_bounds(), from public ",
    "knowledge",
    call = call
  )
}

exposure_of <- function(offsets, call) {
  if (!length(offsets)) {
    return(NULL)
  }
  inner <- offsets[[1]][[2]]
  if (length(offsets) > 1 || !is.call(inner) || !identical(inner[[1]], as.name("log")) || !is.name(inner[[2]])) {
    refuse(
      "an offset can be the logarithm of a column of exposures, as in offset(log(years)), in a model of counts or amounts: other offsets are not there",
      call = call
    )
  }
  as.character(inner[[2]])
}

# The column that a factor is, if it is no more than that. Without an intercept levels need a reader: they have a column each.
plain_column <- function(factor, bounds, intercept) {
  name <- if (is.name(factor)) as.character(factor) else column_of_levels(factor)
  has_levels <- !is.null(name) && !is.null(bounds[[name]]$levels)
  if (is.null(name) || (!has_levels && !is.name(factor)) || (has_levels && !intercept)) NULL else name
}

# R's ways to say that a column has levels.
LEVELS_CALLS <- c("factor", "as.factor", "C")

column_of_levels <- function(factor) {
  is_one <- is.call(factor) && length(factor) == 2 && is.name(factor[[1]]) && as.character(factor[[1]]) %in% LEVELS_CALLS
  if (is_one && is.name(factor[[2]])) as.character(factor[[2]])
}

# The columns that a factor is made of. Knots are numbers.
columns_in <- function(factor) {
  if (is.call(factor)) {
    parts <- as.list(factor)[-1]
    if (!is.null(names(parts))) parts <- parts[!names(parts) %in% LISTS]
    return(unlist(lapply(unname(parts), columns_in)))
  }
  if (is.name(factor)) as.character(factor)
}

# Arguments that are lists of numbers, as R and as the library calls them.
LISTS <- c("knots", "boundary", "Boundary.knots")

# The right side without its offset. What the library's language has not, powers of sums and nested terms, R has expanded.
right_side <- function(right, terms, intercept, call) {
  if (any(c("^", "%in%", "/") %in% operators_between(right))) {
    products <- lapply(terms, function(term) Reduce(function(a, b) base::call(":", a, b), term))
    right <- Reduce(function(a, b) base::call("+", a, b), products)
    return(if (intercept) right else base::call("-", right, 1))
  }
  without_offset(right, call)
}

BETWEEN_TERMS <- c("+", "-", "*", "/", ":", "^", "%in%", "(")

operators_between <- function(part) {
  operator <- if (is.call(part) && is.name(part[[1]])) as.character(part[[1]])
  if (is.null(operator) || !operator %in% BETWEEN_TERMS) NULL else c(operator, unlist(lapply(as.list(part)[-1], operators_between)))
}

columns_of_offsets <- function(part) {
  if (is_offset(part)) {
    return(all.vars(part))
  }
  if (is.call(part)) unlist(lapply(as.list(part)[-1], columns_of_offsets))
}

is_offset <- function(part) is.call(part) && identical(part[[1]], as.name("offset"))

without_offset <- function(part, call) {
  if (is.call(part) && identical(part[[1]], as.name("+")) && length(part) == 3) {
    if (is_offset(part[[3]])) {
      return(without_offset(part[[2]], call))
    }
    if (is_offset(part[[2]])) {
      return(without_offset(part[[3]], call))
    }
  }
  if (is.call(part) && as.character(part[[1]])[1] %in% c("+", "-") && length(part) == 3) part[[2]] <- without_offset(part[[2]], call)
  if ("offset" %in% all.names(part)) {
    refuse("offset() is a term by itself: write it like visits ~ age * sex + offset(log(years))", call = call)
  }
  part
}

# How strongly operations bind, in R and in the library's language alike.
STRENGTHS <- c("+" = 1, "-" = 1, "*" = 2, "/" = 2, ":" = 3, "^" = 5)

# An expression in the library's language.
text_of <- function(part, call, within = 0) {
  if (is.name(part)) {
    return(text_of_name(as.character(part), call))
  }
  if (is.numeric(part) && length(part) == 1 && is.finite(part)) {
    return(if (part < 0 && within > 1) paste0("(", text_of_number(part), ")") else text_of_number(part))
  }
  if (!is.call(part)) {
    refuse("the formula has `", deparse1(part), "` in it, which is neither a column nor a number: leave it out", call = call)
  }
  name <- if (is.name(part[[1]])) as.character(part[[1]]) else as.character(part[[1]])[3]
  arguments <- as.list(part)[-1]
  if (name == "(" && length(arguments) == 1) {
    return(paste0("(", text_of(arguments[[1]], call), ")"))
  }
  if (name %in% names(STRENGTHS) && is.name(part[[1]])) {
    strength <- if (length(arguments) == 1) 4 else STRENGTHS[[name]]
    text <- if (length(arguments) == 1) {
      paste0(name, text_of(arguments[[1]], call, strength))
    } else {
      # Equals to the left go without parentheses, those to the right do not; of powers it is the other way round.
      ends <- if (name == "^") c(strength + 1, 4) else c(strength, strength + 1)
      gap <- if (name %in% c("^", ":")) "" else " "
      paste0(text_of(arguments[[1]], call, ends[1]), gap, name, gap, text_of(arguments[[2]], call, ends[2]))
    }
    return(if (strength < within) paste0("(", text, ")") else text)
  }
  text_of_call(name, arguments, call)
}

text_of_call <- function(name, arguments, call) {
  if (!grepl(SYNTACTIC, name)) {
    refuse("the formula has the operation `", name, "`, which is not there: compute it in the data frame first, from each row by itself", call = call)
  }
  if (name %in% LEVELS_CALLS && length(arguments) == 1) name <- "C"
  if (name == "expm1" && length(arguments) == 1) {
    return(paste0("I(exp(", text_of(arguments[[1]], call), ") - 1)"))
  }
  keys <- names(arguments)
  keys <- if (is.null(keys)) rep("", length(arguments)) else ifelse(keys == "Boundary.knots", "boundary", keys)
  values <- Map(function(key, value) if (key %in% c("knots", "boundary")) text_of_list(value, call) else text_of(value, call), keys, arguments)
  paste0(name, "(", paste0(keys, ifelse(keys == "", "", "="), values, collapse = ", "), ")")
}

# Numbers that are written out, or were computed before and put into the formula.
text_of_list <- function(value, call) {
  written <- if (is.call(value) && identical(value[[1]], as.name("c"))) as.list(value)[-1] else as.list(value)
  numbers <- lapply(written, function(number) {
    is_negative <- is.call(number) && identical(number[[1]], as.name("-")) && length(number) == 2
    if (is_negative && is.numeric(number[[2]])) -number[[2]] else number
  })
  if (!all(vapply(numbers, function(number) is.numeric(number) && length(number) == 1 && is.finite(number), TRUE))) {
    refuse(
      "`", deparse1(value), "`: knots are public numbers that are written out: write knots = c(30, 45, 60). Knots that are read off the rows would leak",
      call = call
    )
  }
  paste0("[", paste(vapply(numbers, text_of_number, ""), collapse = ", "), "]")
}

# All digits that there are, and no more.
text_of_number <- function(x) {
  short <- format(x, digits = 15)
  if (as.double(short) == x) short else format(x, digits = 17)
}

text_of_name <- function(name, call) {
  if (grepl("`", name, fixed = TRUE)) {
    refuse("the column `", name, "` has a backtick in its name: rename it", call = call)
  }
  if (name == "." || grepl(SYNTACTIC, name)) name else paste0("`", name, "`")
}

# Names that the library's language takes as they are.
SYNTACTIC <- "^[[:alpha:]_][[:alnum:]_.]*$"

# The schema of a model. A formula that computes stands in it, beside all that is declared, as in a schema file; otherwise it has the formula's
# columns alone, the response last.
schema_of_model <- function(read, bounds, missing, unit, weights, call) {
  if (!is.null(read$response) && read$response %in% read$features) {
    refuse("the response `", read$response, "` is on both sides of the formula", call = call)
  }
  for (name in read$exposure) if (is.null(bounds[[name]])) refuse_undeclared(name, call)
  schema <- list(intercept = TRUE, missing = missing)
  if (!is.null(read$target)) schema$target <- read$target
  if (!is.null(read$text)) {
    schema$formula <- read$text
    declarations <- bounds[setdiff(names(bounds), unit)]
  } else {
    schema$intercept <- read$intercept
    declarations <- bounds[c(read$features, read$exposure)]
  }
  if (!is.null(unit)) schema$unit <- word(unit, "unit", call)
  if (!is.null(read$exposure)) schema$exposure <- read$exposure
  if (!is.null(weights)) {
    schema$weight <- weights$name
    declarations[[weights$name]] <- weights$declared
  }
  if (is.null(read$text)) declarations[[read$response]] <- bounds[[read$response]]
  schema$columns <- declarations
  schema
}

# The cells that a model reads.
cells_of_model <- function(read, data, unit, weights, call) {
  names <- unique(c(read$features, read$exposure, read$explained, unit))
  found <- structure(lapply(names, function(name) cells_of(column_of(data, name, call), name, call)), names = names)
  if (!is.null(weights)) found[[weights$name]] <- weights$cells
  found
}

# Columns that bounds have to be found for, if any.
used_columns <- function(read, bounds) intersect(c(read$features, read$explained), names(bounds))
