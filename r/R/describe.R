#' Private description of a table
#'
#' What the first table of a paper holds, with one budget: means, standard deviations and quartiles of numbers and shares of levels, each with
#' the ends of its interval, for sampling and privacy noise together.
#'
#' @param bounds Public bounds or levels of the columns to describe, from [dp_bounds()] or [dp_schema()].
#' @param by A column with levels: each level is described apart.
#' @param histograms A number of bins; `TRUE` for 20.
#' @param cross Two columns with levels, whose cross table is given.
#' @param correlations Whether to give the correlations of the numbers.
#' @param intervals The level of the intervals.
#' @param missing `"drop"`: missing cells are counted out, and their share is given. `"fill"`: a missing cell counts as the middle of its bounds.
#' @inheritParams dp_glm
#' @return An object of class `dp_description`. `as.data.frame()` gives one row for each number, those of histograms, cross tables and
#'   correlations too; `plot()` draws the histograms, and the shares of levels; [certificate()] says what it cost.
#' @examples
#' people <- data.frame(age = rnorm(3000, 45, 12), sex = sample(c("f", "m"), 3000, TRUE))
#' table1 <- dp_describe(people, dp_bounds(age = c(0, 110), sex = c("f", "m")), epsilon = 1, delta = 1e-6)
#' head(as.data.frame(table1))
#' @export
dp_describe <- function(data, bounds, epsilon, delta, by = NULL, histograms = NULL, cross = NULL, correlations = FALSE,
                        intervals = 0.95, missing = c("drop", "fill"), bounds_share = NULL, ledger = NULL, strict = FALSE,
                        insecure_seed = NULL) {
  call <- public_call(match.call())
  budget <- budget_of(if (!base::missing(epsilon)) epsilon, if (!base::missing(delta)) delta, insecure_seed, call)
  missing <- one_of(missing, "missing", c("drop", "fill"), call)
  if (!is.null(cross) && (!is.character(cross) || length(cross) != 2)) {
    refuse("cross takes the names of two columns with levels: write them like c(\"sex\", \"region\")", call = call)
  }
  if (is.logical(histograms)) histograms <- if (flag(histograms, "histograms", call)) 20
  paid <- paid_from(ledger, call)
  check_budget(budget, call)
  expect_ledger(paid, budget, NULL, call)
  bounds <- bounds_of(if (!base::missing(bounds)) bounds, call)
  asked <- list(
    budget = budget, by = word(by, "by", call), intervals = number(intervals, "intervals", call),
    histograms = whole_number(histograms, "histograms", call), cross = if (!is.null(cross)) as.list(cross),
    correlations = flag(correlations, "correlations", call), bounds_share = share_for_bounds(bounds_share, bounds, call)
  )
  data <- frame_of(data, call)
  read <- value_of(.Call(wrap__schema_of_description, list(missing = missing, columns = bounds), asked$by), call)
  columns <- structure(lapply(names(bounds), function(name) cells_of(column_of(data, name, call), name, call)), names = names(bounds))
  table <- encode(how_to_read("data", flag(strict, "strict", call), for_means = TRUE), read, columns, call)
  done <- result_of(value_of(.Call(wrap__start_description, table$table, asked, paid), call), call)
  tell(done$said, table$notes, call)
  described <- dp_artefact(done$json)
  structure(c(unclass(described), list(call = call)), class = class(described))
}

STATISTICS <- c(
  mean = "mean", deviation = "standard deviation", first_quartile = "first quartile", median = "median", third_quartile = "third quartile"
)

#' @export
as.data.frame.dp_description <- function(x, ...) {
  rows <- list()
  add <- function(group, column, statistic, said) {
    rows[[length(rows) + 1]] <<- data.frame(
      group = group, column = column, statistic = statistic, estimate = said$estimate, conf.low = said$interval[1],
      conf.high = said$interval[2]
    )
  }
  for (group in x$document$groups) {
    name <- if (is.null(group$group)) "all rows" else group$group
    if (!is.null(group$share)) add(name, x$document$by, "share of rows", group$share)
    for (column in names(group$columns)) {
      said <- group$columns[[column]]
      for (key in intersect(names(STATISTICS), names(said))) add(name, column, STATISTICS[[key]], said[[key]])
      for (level in names(said$levels)) add(name, column, level, said$levels[[level]])
      bins <- if (!is.null(said$histogram)) names_of_bins(unlist(said$histogram$edges))
      for (bin in seq_along(bins)) add(name, column, bins[bin], said$histogram$shares[[bin]])
      if (!is.null(said$missing)) add(name, column, "missing", said$missing)
    }
    cross <- group$cross
    for (row in seq_along(cross$rows)) {
      for (across in seq_along(cross$across)) {
        statistic <- paste(cross$rows[[row]], cross$across[[across]], sep = " and ")
        add(name, paste(unlist(cross$columns), collapse = " and "), statistic, cross$shares[[row]][[across]])
      }
    }
    related <- unlist(group$correlations$columns)
    for (second in seq_along(related)[-1]) {
      for (first in seq_len(second - 1)) {
        add(name, paste(related[first], "and", related[second]), "correlation", group$correlations$matrix[[first]][[second]])
      }
    }
  }
  do.call(rbind, rows)
}

names_of_bins <- function(edges) {
  last <- length(edges)
  paste0("in [", format_each(edges[-last]), ", ", format_each(edges[-1]), c(rep(")", last - 2), "]"))
}

format_each <- function(numbers) vapply(numbers, format, "", digits = 6)

#' @export
plot.dp_description <- function(x, ...) {
  histograms <- list()
  shares <- list()
  for (group in x$document$groups) {
    before <- if (is.null(group$group)) "" else paste0(group$group, ": ")
    for (column in names(group$columns)) {
      said <- group$columns[[column]]
      label <- paste0(before, column)
      if (!is.null(said$histogram)) histograms[[label]] <- said$histogram
      for (level in names(said$levels)) shares[[paste(label, "=", level)]] <- said$levels[[level]]
    }
  }
  panels <- length(histograms) + (length(shares) > 0)
  if (!panels) {
    refuse("there are no histograms and no shares of levels to draw: as.data.frame() has the numbers")
  }
  if (panels > 1) {
    kept <- graphics::par(mfrow = grDevices::n2mfrow(panels))
    on.exit(graphics::par(kept))
  }
  for (label in names(histograms)) draw_histogram(histograms[[label]], label, ...)
  if (length(shares)) {
    ends <- vapply(shares, function(share) c(share$estimate, unlist(share$interval)), c(0, 0, 0))
    forest(ends[1, ], ends[2, ], ends[3, ], names(shares), "Share of rows", zero = FALSE, ...)
  }
  invisible(x)
}

# The share of each bin, with its interval.
draw_histogram <- function(histogram, label, ...) {
  edges <- unlist(histogram$edges)
  shares <- vapply(histogram$shares, function(share) c(share$estimate, unlist(share$interval)), c(0, 0, 0))
  last <- length(edges)
  kept <- graphics::par(mar = c(4, 4, 1, 1))
  on.exit(graphics::par(kept))
  graphics::plot(range(edges), range(0, shares), type = "n", xlab = label, ylab = "Share of rows", ...)
  graphics::rect(edges[-last], 0, edges[-1], pmax(shares[1, ], 0), col = "grey85")
  middle <- (edges[-last] + edges[-1]) / 2
  graphics::segments(middle, shares[2, ], middle, shares[3, ])
}
