# Columns of a data frame as the library takes them: doubles, or codes from 0 with what they stand for. What cells hold never makes an
# error here: it would tell of one of them. A column's type is public.

cells_of <- function(column, name, call = NULL) {
  if (is.factor(column)) {
    meanings <- clean_text(levels(column))
    return(list(as.integer(column) - 1L, ifelse(is.na(meanings), "", meanings)))
  }
  # Whether whole numbers of 64 bits are these or R's own depends on how large the largest is, in some readers: both are read alike.
  if (inherits(column, "integer64") && is.null(dim(column))) {
    return(column)
  }
  if (inherits(column, c("Date", "POSIXt", "difftime")) || !is.null(dim(column)) || is.list(column)) {
    refuse(
      "data: column `", name, "` is of class ", class(column)[1], ", neither numbers nor texts: convert it first, dates to days since a date",
      call = call
    )
  }
  if (is.logical(column)) {
    return(list(as.integer(column), c(FALSE, TRUE)))
  }
  if (is.numeric(column)) {
    return(as.double(column))
  }
  if (is.character(column)) {
    spellings <- unique(column)
    meanings <- clean_text(spellings)
    codes <- match(column, spellings) - 1L
    codes[column %in% spellings[is.na(meanings)]] <- NA_integer_
    return(list(codes, ifelse(is.na(meanings), "", meanings)))
  }
  refuse("data: column `", name, "` is of type ", typeof(column), ", neither numbers nor texts", call = call)
}

# Texts in UTF-8; what is none counts as missing.
clean_text <- function(text) {
  is_text <- validEnc(text)
  text[!is_text] <- NA_character_
  enc2utf8(text)
}

how_to_read <- function(name = "data", strict = FALSE, constant = FALSE, needs_target = TRUE, for_means = FALSE) {
  list(name = name, strict = strict, constant_column = constant, needs_target = needs_target, for_means = for_means)
}

encode <- function(how, schema, columns, call = NULL) {
  value_of(.Call(wrap__encode_columns, how, schema, columns), call)
}

# Tables of package arrow, which know themselves how to become data frames. Types follow from the schema alone: left to itself, arrow makes
# integers of 64 bits into R's own where all of them fit.
without_arrow <- function(data) {
  if (!inherits(data, c("ArrowTabular", "Dataset", "arrow_dplyr_query"))) {
    return(data)
  }
  before <- options(arrow.int64_downcast = FALSE)
  on.exit(options(before))
  as.data.frame(data)
}

frame_of <- function(data, call = NULL) {
  data <- without_arrow(data)
  if (is.matrix(data) && !is.null(colnames(data))) data <- as.data.frame(data)
  if (!is.data.frame(data)) {
    refuse("data must be a data frame, got ", what_is(data), call = call)
  }
  if (!nrow(data)) {
    refuse("data has no rows: check that the export was complete", call = call)
  }
  data
}

column_of <- function(data, name, call = NULL) {
  if (!name %in% names(data)) {
    refuse("data: there is no column `", name, "`: it has ", paste(utils::head(names(data), 8), collapse = ", "), call = call)
  }
  data[[name]]
}
