#' Public bounds and levels
#'
#' Declares what is publicly known of each column before anybody looks at a row. Noise is added in proportion to what is declared, and
#' values outside count as the nearest end, so where in doubt declare wide bounds. Never read them off the table.
#'
#' @param ... For each column, by its name: two numbers `c(low, high)` that bound a number; its levels as a character or logical vector,
#'   the reference first; or what one of the functions below gives.
#' @param levels The levels, the reference first: texts, numbers or truth values. An element of a list may be several spellings of one level.
#' @param low,high The smallest and the largest count.
#' @param largest The largest size that values can have, far beyond what is likely.
#' @param resolution The smallest difference that matters.
#' @param fill What a missing cell counts as, unless rows with missing cells are dropped: by default the middle of the bounds, or the reference.
#' @param file A schema file, as the command `dpglm` reads it.
#'
#' @details
#' `dp_levels()` declares levels that are numbers, such as a region's code; `dp_number()` bounds with a `fill`; `dp_count()` a number that
#' counts; `dp_magnitude()` a number whose bounds nobody knows: bounds are then found privately, with a share of the budget.
#' `dp_schema()` reads the columns of a schema file, and nothing else of it: what it says of target, unit, weights, missing cells or a formula are
#' arguments of [dp_glm()] and others.
#'
#' Bounds are put together with `c()`, taken apart with `[`, and changed with `$<-`: `bounds$age <- c(0, 120)`.
#'
#' A factor's levels are not read off a data frame: they are what occurred among private rows. Declare them.
#'
#' @return `dp_bounds()` and `dp_schema()` give an object of class `dp_bounds`, which [dp_glm()] and others take; the others a declaration of one
#'   column.
#' @examples
#' dp_bounds(age = c(17, 90), sex = c("Female", "Male"), region = dp_levels(1:4), visits = dp_count(0, 30))
#' @export
dp_bounds <- function(...) {
  call <- sys.call()
  declared <- list(...)
  if (length(declared) == 1 && inherits(declared[[1]], "dp_bounds") && is.null(names(declared))) {
    return(declared[[1]])
  }
  names <- names(declared)
  if (!length(declared) || is.null(names) || any(names == "")) {
    refuse("every column's bounds have its name: write them like age = c(17, 90)", call = call)
  }
  if (anyDuplicated(names)) {
    refuse("column `", names[anyDuplicated(names)], "` is declared twice", call = call)
  }
  columns <- Map(function(name, column) declared_column(name, column, call), names, declared)
  structure(columns, names = in_utf8(names, "a column's name", call), class = "dp_bounds")
}

declared_column <- function(name, column, call) {
  if (inherits(column, "dp_column") || (is.list(column) && is.character(column$kind))) {
    return(unclass(column))
  }
  if (is.numeric(column) && !is.object(column)) {
    if (length(column) != 2) {
      refuse(
        "column `", name, "`: ", length(column), " numbers are no pair of bounds: write c(low, high), or dp_levels(...) for levels that are numbers",
        call = call
      )
    }
    return(unclass(number_column(column[1], column[2], paste0("bounds of column `", name, "`"), call = call)))
  }
  if (is.character(column) || is.logical(column) || is.factor(column)) {
    return(unclass(dp_levels(column)))
  }
  refuse(
    "column `", name, "` needs two numbers or its levels, got ", what_is(column), ": write them like c(0, 120) or c(\"no\", \"yes\")",
    call = call
  )
}

number_column <- function(low, high, key, kind = "real", fill = NULL, call = NULL) {
  low <- number(low, "low", call)
  high <- number(high, "high", call)
  value_of(.Call(wrap__check_bounds, key, low, high), call)
  column <- list(kind = kind, bounds = I(c(low, high)))
  if (!is.null(fill)) column$fill <- number(fill, "fill", call)
  structure(column, class = "dp_column")
}

#' @rdname dp_bounds
#' @export
dp_levels <- function(levels, fill = NULL) {
  call <- sys.call()
  # A factor is given for what it lists, not for the cells it holds.
  if (is.factor(levels)) {
    refuse("a factor's cells are no declaration: write the levels out, like c(\"no\", \"yes\")", call = call)
  }
  listed <- if (is.list(levels)) lapply(levels, function(level) if (length(level) > 1) I(level) else level) else as.list(unname(levels))
  if (length(listed) < 2) {
    refuse("a column needs at least two levels, got ", length(listed), ": write them like c(\"no\", \"yes\")", call = call)
  }
  if (anyNA(unlist(levels))) {
    refuse("a level is missing (NA): a missing cell is no level", call = call)
  }
  listed <- lapply(listed, function(level) if (is.character(level)) in_utf8(level, "a level", call) else level)
  column <- list(kind = if (length(listed) == 2) "binary" else "category", levels = listed)
  if (!is.null(fill)) column$fill <- fill
  structure(column, class = "dp_column")
}

#' @rdname dp_bounds
#' @export
dp_number <- function(low, high, fill = NULL) number_column(low, high, "bounds", fill = fill, call = sys.call())

#' @rdname dp_bounds
#' @export
dp_count <- function(low, high, fill = NULL) number_column(low, high, "bounds", "count", fill, sys.call())

#' @rdname dp_bounds
#' @export
dp_magnitude <- function(largest, resolution) {
  call <- sys.call()
  column <- list(kind = "real", magnitude = number(largest, "largest", call), resolution = number(resolution, "resolution", call))
  structure(column, class = "dp_column")
}

#' @rdname dp_bounds
#' @export
dp_schema <- function(file) {
  text <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  schema <- value_of(.Call(wrap__read_schema, text), sys.call())
  columns <- Filter(function(column) column$kind != "ignore", schema$columns)
  # Vectors of one element stay lists, as they are in the file.
  columns <- lapply(columns, function(column) {
    if (!is.null(column$levels)) column$levels <- as.list(column$levels)
    if (!is.null(column$bounds)) column$bounds <- I(column$bounds)
    column
  })
  structure(columns, class = "dp_bounds")
}

#' @export
`[.dp_bounds` <- function(x, i) {
  taken <- unclass(x)[i]
  if (anyNA(names(taken))) refuse("there is no column `", setdiff(i, names(x))[1], "` in these bounds", call = sys.call())
  structure(taken, class = "dp_bounds")
}

#' @export
`[[<-.dp_bounds` <- function(x, i, value) {
  call <- sys.call()
  if (!is.character(i) || length(i) != 1) refuse("a column's bounds have its name: write bounds$age <- c(17, 90)", call = call)
  columns <- unclass(x)
  columns[[in_utf8(i, "a column's name", call)]] <- if (!is.null(value)) declared_column(i, value, call)
  structure(columns, class = "dp_bounds")
}

#' @export
`$<-.dp_bounds` <- function(x, name, value) {
  x[[name]] <- value
  x
}

#' @export
`[<-.dp_bounds` <- function(x, i, value) {
  if (!is.character(i)) refuse("columns are changed by name: write bounds$age <- c(17, 90)", call = sys.call())
  value <- if (is.null(value)) vector("list", length(i)) else rep_len(as.list(value), length(i))
  for (place in seq_along(i)) x[[i[place]]] <- value[[place]]
  x
}

#' @export
c.dp_bounds <- function(...) {
  call <- sys.call()
  parts <- lapply(list(...), function(part) bounds_of(part, call))
  columns <- do.call(c, parts)
  if (anyDuplicated(names(columns))) refuse("column `", names(columns)[anyDuplicated(names(columns))], "` is declared twice", call = call)
  structure(columns, class = "dp_bounds")
}

#' @export
print.dp_bounds <- function(x, ...) {
  for (name in names(x)) {
    column <- x[[name]]
    said <- if (!is.null(column$levels)) {
      first <- vapply(column$levels, function(level) as.character(level)[1], "")
      paste("levels", paste(first, collapse = ", "))
    } else if (!is.null(column$magnitude)) {
      paste0("size up to ", format(column$magnitude), ", bounds to be found privately")
    } else {
      paste0(if (column$kind == "count") "count" else "number", " in [", paste(format(unclass(column$bounds), trim = TRUE), collapse = ", "), "]")
    }
    cat(name, ": ", said, "\n", sep = "")
  }
  invisible(x)
}

bounds_of <- function(bounds, call) {
  if (inherits(bounds, "dp_bounds")) {
    return(unclass(bounds))
  }
  if (is.list(bounds) && !is.null(names(bounds)) && !is.object(bounds)) {
    return(unclass(do.call(dp_bounds, bounds)))
  }
  refuse(
    "public bounds are needed and have no default: give bounds = dp_bounds(age = c(17, 90), sex = c(\"Female\", \"Male\")), with an entry ",
    "for every column",
    call = call
  )
}

is_searched <- function(columns) any(vapply(columns, function(column) !is.null(column$magnitude), TRUE))

share_for_bounds <- function(share, columns, call) {
  if (!is_searched(columns)) {
    if (!is.null(share)) refuse("bounds_share goes with dp_magnitude(): leave out bounds_share", call = call)
    return(NULL)
  }
  if (is.null(share)) 0.1 else number(share, "bounds_share", call)
}
