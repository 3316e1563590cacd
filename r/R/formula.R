# Formulas. R's own terms() reads them. Every term is a function of one row, and its bounds follow from the declared bounds of its columns by
# interval arithmetic. What would need the rows themselves (scale(), poly(), bs(), levels that are not declared) is refused: means, knots
# and levels that are read off private rows leak.

ROW_BY_ROW <- "I, log, log2, log10, log1p, exp, expm1, sqrt, abs, + - * / and powers"

# What a formula asks for: the response, the terms with their factors, whether there is an intercept, and the column of exposures.
read_formula <- function(formula, bounds, call) {
  if (!inherits(formula, "formula")) {
    refuse("formula must be a formula, got ", what_is(formula), ": write it like income ~ age + sex", call = call)
  }
  if (length(formula) != 3) {
    refuse("the formula has no response on its left side: write it like income ~ age + sex", call = call)
  }
  if (!is.name(formula[[2]])) {
    refuse(
      "the response `", deparse1(formula[[2]]), "` must be a column: compute it in the data frame first, from each row by itself",
      call = call
    )
  }
  response <- as.character(formula[[2]])
  # The dot stands for what is declared, not for what the data frame happens to hold.
  others <- setdiff(names(bounds), response)
  skeleton <- structure(rep(list(numeric(0)), length(others)), names = others, row.names = integer(0), class = "data.frame")
  read <- tryCatch(
    stats::terms(formula, data = skeleton),
    error = function(error) refuse("the formula cannot be read: ", conditionMessage(error), call = call)
  )
  factors <- attr(read, "factors")
  variables <- as.list(attr(read, "variables"))[-1]
  exposure <- exposure_of(variables[attr(read, "offset")], call)
  labels <- attr(read, "term.labels")
  if (!length(labels)) {
    refuse("the formula has no columns on its right side: give at least one", call = call)
  }
  terms <- lapply(labels, function(label) {
    places <- which(factors[, label] > 0)
    list(factors = variables[places], full = unname(factors[places, label] == 2))
  })
  list(response = response, terms = terms, intercept = attr(read, "intercept") == 1, exposure = exposure)
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

# Reads factors from declared bounds and, if there are any, rows.
Reader <- function(bounds, data = NULL, strict = FALSE, missing = "fill", call = NULL) {
  notes <- new.env(parent = emptyenv())
  notes$said <- character()
  structure(list(bounds = bounds, data = data, strict = strict, missing = missing, call = call, notes = notes), class = "dp_reader")
}

declared <- function(reader, name) {
  if (is.null(reader$bounds[[name]])) {
    refuse(
      "no bounds for column `", name, "`: add ", name, " = c(LOW, HIGH), or its levels as a character vector, to dp_bounds(), from public ",
      "knowledge",
      call = reader$call
    )
  }
  reader$bounds[[name]]
}

cells <- function(reader, name) {
  if (is.null(reader$data)) NULL else cells_of(column_of(reader$data, name, reader$call), name, reader$call)
}

# A column's cells by the public rule, as anywhere: clamped, filled, an undeclared level as the reference. Where rows with missing cells
# are dropped these are NaN, and stay so in whatever is computed from them.
stored <- function(reader, name, declared, place) {
  if (is.null(reader$data)) {
    return(NULL)
  }
  schema <- list(intercept = FALSE, missing = reader$missing, scale = "none", columns = structure(list(declared), names = name))
  table <- encode(how_to_read(strict = reader$strict), schema, structure(list(cells(reader, name)), names = name), reader$call)
  reader$notes$said <- c(reader$notes$said, table$notes)
  value_of(.Call(wrap__stored_column, table$table, place))
}

# The columns that the terms are made of: each one's declaration and, with rows, its cells.
columns_of_terms <- function(read, reader) {
  found <- list()
  add <- function(name, declared, values) {
    found[[length(found) + 1]] <<- list(name = name, declared = declared, cells = values)
  }
  # Without an intercept the first factor has a column for each level, as in R's own models.
  spare <- !read$intercept
  for (term in read$terms) {
    alone <- if (length(term$factors) == 1) plain_column(term$factors[[1]], reader$bounds)
    if (!is.null(alone)) {
      full <- spare && !is.null(declared(reader, alone)$levels)
      if (!full) {
        add(alone, declared(reader, alone), cells(reader, alone))
        next
      }
      term$full <- TRUE
      spare <- FALSE
    }
    if (reader$missing == "indicator") {
      refuse(
        "missing = \"indicator\" takes columns by themselves as terms, and `", paste(vapply(term$factors, deparse1, ""), collapse = ":"),
        "` is computed", if (isTRUE(term$full[1])) " without an intercept", ": leave it out, or give missing = \"fill\" or \"drop\"",
        call = reader$call
      )
    }
    factors <- Map(function(factor, full) factor_of(reader, factor, full), term$factors, term$full)
    for (product in products(factors, reader)) {
      values <- product$values
      # What rounding has moved out of the term's bounds is no bad cell.
      if (!is.null(values)) values <- pmin(pmax(rep_len(values, nrow(reader$data)), product$low), product$high)
      if (product$low == product$high) {
        refuse("term `", product$name, "` is the same in every row: leave it out", call = reader$call)
      }
      add(product$name, list(kind = "real", bounds = I(c(product$low, product$high))), values)
    }
  }
  found
}

# The column that a factor is, if it is no more than that.
plain_column <- function(factor, bounds) {
  if (is.name(factor)) {
    return(as.character(factor))
  }
  name <- if (is_levels_call(factor)) as.character(factor[[2]])
  if (!is.null(name) && !is.null(bounds[[name]]$levels)) name
}

# One factor of a term: a column with levels, a column with numbers, or a function of such.
factor_of <- function(reader, factor, full) {
  if (is.name(factor) || (is.call(factor) && is_levels_call(factor))) {
    name <- as.character(if (is.name(factor)) factor else factor[[2]])
    column <- declared(reader, name)
    if (!is.null(column$levels)) {
      return(list(column = name, levels = column, full = full))
    }
    if (is.call(factor)) {
      refuse(
        "`", deparse1(factor), "`: levels are declared, not read off the rows: give ", name, " = dp_levels(...) in dp_bounds()",
        call = reader$call
      )
    }
    if (!is.null(column$magnitude)) {
      return(list(column = name, full = FALSE, searched = TRUE))
    }
  }
  text <- deparse1(factor)
  value <- evaluate(reader, factor, text)
  list(name = text, low = value$low, high = value$high, values = value$values)
}

is_levels_call <- function(call) {
  named <- length(call) == 2 && is.name(call[[1]]) && as.character(call[[1]]) %in% c("factor", "as.factor", "C")
  named && is.name(call[[2]])
}

# The products of all factors, one for each combination of levels.
products <- function(factors, reader) {
  made <- NULL
  for (factor in factors) {
    if (isTRUE(factor$searched)) {
      refuse(
        "`", factor$column, "` has a magnitude and no bounds, so it can be a term by itself, but no part of another: declare its bounds",
        call = reader$call
      )
    }
    parts <- if (is.null(factor$levels)) list(factor[c("name", "low", "high", "values")]) else indicators(factor, reader)
    if (is.null(made)) {
      made <- parts
      next
    }
    made <- unlist(lapply(made, function(a) lapply(parts, function(b) multiply(a, b))), recursive = FALSE)
  }
  made
}

# Whether a cell is a level: of each level but the reference, or of all.
indicators <- function(factor, reader) {
  # A binary column is stored as one number; as a category it has one for each level but the first.
  category <- factor$levels
  category$kind <- "category"
  names <- vapply(category$levels, function(level) as.character(level)[1], "")
  reference <- if (is.null(category$reference)) 1 else match(as.character(category$reference), names)
  others <- setdiff(seq_along(names), reference)
  part <- function(name, values) list(name = paste0(factor$column, "=", name), low = 0, high = 1, values = values)
  parts <- Map(function(level, place) part(names[level], stored(reader, factor$column, category, place - 1)), others, seq_along(others))
  if (!isTRUE(factor$full)) {
    return(unname(parts))
  }
  rest <- if (is.null(reader$data)) NULL else 1 - Reduce(`+`, lapply(parts, `[[`, "values"))
  ordered <- c(list(part(names[reference], rest)), unname(parts))
  ordered[order(c(reference, others))]
}

multiply <- function(a, b) {
  ends <- c(a$low * b$low, a$low * b$high, a$high * b$low, a$high * b$high)
  values <- if (is.null(a$values) || is.null(b$values)) NULL else a$values * b$values
  list(name = paste0(a$name, ":", b$name), low = min(ends), high = max(ends), values = values)
}

# An expression within its bounds, from those of its columns. All operations are R's own, on numbers that the public rule has put within
# their bounds: no cell can leave a function's domain.
evaluate <- function(reader, expression, text) {
  if (is.numeric(expression) && length(expression) == 1) {
    return(list(low = as.double(expression), high = as.double(expression), values = as.double(expression)))
  }
  if (is.name(expression)) {
    return(named_number(reader, as.character(expression), text))
  }
  if (is.call(expression) && is.name(expression[[1]])) {
    operation <- as.character(expression[[1]])
    arguments <- lapply(as.list(expression)[-1], function(argument) evaluate_or_refuse(reader, argument, text))
    if (is.null(names(arguments)) || all(names(arguments) == "")) {
      found <- apply_operation(reader, operation, arguments, text)
      if (!is.null(found)) {
        return(found)
      }
    }
  }
  not_row_by_row(reader, text)
}

evaluate_or_refuse <- function(reader, argument, text) {
  if (is.numeric(argument) || is.name(argument) || is.call(argument)) evaluate(reader, argument, text) else not_row_by_row(reader, text)
}

not_row_by_row <- function(reader, text) {
  refuse(
    "`", text, "` cannot be computed from declared bounds and one row at a time: use ", ROW_BY_ROW, ". What needs the rows themselves, such ",
    "as scale(), poly() or bs(), would leak; write I((age - 40) / 10) with public numbers, or powers such as I(age^2)",
    call = reader$call
  )
}

named_number <- function(reader, name, text) {
  column <- declared(reader, name)
  if (!is.null(column$levels)) {
    refuse("`", text, "`: `", name, "` has levels and is no number", call = reader$call)
  }
  if (!is.null(column$magnitude)) {
    refuse(
      "`", text, "`: `", name, "` has a magnitude and no bounds, so it can be a term by itself, but no part of another: declare its bounds",
      call = reader$call
    )
  }
  list(low = column$bounds[1], high = column$bounds[2], values = stored(reader, name, column, 0))
}

apply_operation <- function(reader, operation, arguments, text) {
  a <- arguments[[1]]
  if (length(arguments) == 1) {
    return(switch(operation,
      "(" = , "I" = , "+" = a,
      "-" = list(low = -a$high, high = -a$low, values = negated(a$values)),
      "log" = monotone(reader, log, a, text, above = 0, open = TRUE),
      "log2" = monotone(reader, log2, a, text, above = 0, open = TRUE),
      "log10" = monotone(reader, log10, a, text, above = 0, open = TRUE),
      "log1p" = monotone(reader, log1p, a, text, above = -1, open = TRUE),
      "exp" = monotone(reader, exp, a, text),
      "expm1" = monotone(reader, expm1, a, text),
      "sqrt" = monotone(reader, sqrt, a, text, above = 0),
      "abs" = list(
        low = if (a$low <= 0 && a$high >= 0) 0 else min(abs(c(a$low, a$high))), high = max(abs(c(a$low, a$high))),
        values = if (!is.null(a$values)) abs(a$values)
      ),
      NULL
    ))
  }
  if (length(arguments) != 2) {
    return(NULL)
  }
  b <- arguments[[2]]
  both <- function(f) if (is.null(a$values) || is.null(b$values)) NULL else f(a$values, b$values)
  switch(operation,
    "+" = list(low = a$low + b$low, high = a$high + b$high, values = both(`+`)),
    "-" = list(low = a$low - b$high, high = a$high - b$low, values = both(`-`)),
    "*" = multiply(a, b)[c("low", "high", "values")],
    "/" = {
      if (b$low <= 0 && b$high >= 0) {
        refuse("`", text, "` may divide by 0 within the declared bounds: bound the column away from 0", call = reader$call)
      }
      inverse <- list(low = 1 / b$high, high = 1 / b$low)
      bounds <- multiply(a, inverse)
      list(low = bounds$low, high = bounds$high, values = both(`/`))
    },
    "^" = power(reader, a, b, text),
    NULL
  )
}

negated <- function(values) if (is.null(values)) NULL else -values

monotone <- function(reader, f, a, text, above = -Inf, open = FALSE) {
  if (a$low < above || (open && a$low == above)) {
    refuse(
      "`", text, "` is not defined on all of the declared bounds [", format(a$low), ", ", format(a$high), "]: declare bounds on which it is",
      call = reader$call
    )
  }
  found <- list(low = f(a$low), high = f(a$high), values = if (!is.null(a$values)) f(a$values))
  if (!is.finite(found$low) || !is.finite(found$high)) {
    refuse("`", text, "` is too large for a number within the declared bounds: declare narrower bounds", call = reader$call)
  }
  found
}

power <- function(reader, a, b, text) {
  exponent <- b$low
  if (b$low != b$high) {
    return(NULL)
  }
  values <- if (!is.null(a$values)) a$values^exponent
  if (exponent < 0 || exponent != floor(exponent)) {
    checked <- monotone(reader, function(x) x^abs(exponent), a, text, above = 0, open = exponent < 0)
    ends <- sort(if (exponent < 0) 1 / c(checked$low, checked$high) else c(checked$low, checked$high))
  } else {
    ends <- range(c(a$low^exponent, a$high^exponent, if (exponent %% 2 == 0 && exponent > 0 && a$low <= 0 && a$high >= 0) 0))
  }
  if (!all(is.finite(ends))) {
    refuse("`", text, "` is too large for a number within the declared bounds: declare narrower bounds", call = reader$call)
  }
  list(low = ends[1], high = ends[2], values = values)
}
