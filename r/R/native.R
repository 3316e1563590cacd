# Calls of the native half. It never throws: it answers with a value, or with an error of which a condition is made here.

value_of <- function(answer, call = NULL) {
  if (is.null(answer[["error"]])) {
    return(answer[["value"]])
  }
  refuse(answer[["error"]], call = call, usage = isTRUE(answer[["usage"]]))
}

# What was asked for is wrong, or could not be had.
refuse <- function(..., call = NULL, usage = TRUE) {
  kinds <- c(if (usage) "dpglm_usage_error", "dpglm_error", "error", "condition")
  stop(structure(class = kinds, list(message = paste0(...), call = call)))
}

# A call as a result may keep it: with names of data, and not the data themselves, which do.call() writes into a call.
public_call <- function(call) {
  for (name in intersect(names(call), c("data", "x", "y", "unit", "weights", "newdata"))) {
    if (!is.character(call[[name]]) && !names_rows(call[[name]])) call[[name]] <- as.name(paste0("<", name, ">"))
  }
  if (!is.language(call[[1]])) call[[1]] <- as.name("<function>")
  public_language(call)
}

# What may stand in the name of some rows, as in people[people$age > 30, ]: what makes rows out of numbers may not.
NAMING <- c("[", "[[", "$", "(", "subset", "::", "!", "&", "|", "==", "!=", "<", ">", "<=", ">=", "%in%", "is.na", "-", "+", "*", "/", "ifelse", "with")

names_rows <- function(part) {
  if (is.name(part)) {
    return(TRUE)
  }
  if (!is.call(part)) {
    return(length(part) == 1 && is.atomic(part) && is.null(attributes(part)))
  }
  is.name(part[[1]]) && as.character(part[[1]]) %in% NAMING && all(vapply(as.list(part)[-1], names_rows, TRUE))
}

# Language without what it may carry: values that were written into it, environments of formulas and functions. A closure, say, has
# the rows of the function that made it.
public_language <- function(part) {
  if (is.call(part) && !identical(part[[1]], as.name("function"))) {
    part <- without_attributes(part)
    for (place in seq_along(part)) {
      # What is left out, as in rows[1, ], is no value.
      if (!identical(part[[place]], quote(expr = ))) part[place] <- list(public_language(part[[place]]))
    }
    return(part)
  }
  is_plain <- is.name(part) || is.null(part) || (is.atomic(part) && length(part) <= 20)
  if (!is_plain) {
    return(as.name("..."))
  }
  if (is.atomic(part)) without_attributes(part) else part
}

without_attributes <- function(part) {
  for (name in setdiff(names(attributes(part)), "names")) attr(part, name) <- NULL
  part
}

# Waits for a computation. R looks for interrupts between two questions; what was interrupted is told to stop, and releases nothing.
result_of <- function(job, call = NULL) {
  force(job)
  on.exit(.Call(wrap__stop_job, job))
  repeat {
    done <- value_of(.Call(wrap__wait_for_job, job, 200), call)
    if (!is.null(done)) {
      return(done)
    }
    Sys.sleep(0.001)
  }
}

# Says what a result had to say, and what the public rule changed. What depends on private cells is for the curator: a note, and never a
# warning, which options(warn = 2) makes an error, after the ledger has paid and if a cell says so.
tell <- function(said, notes = character(), call = NULL) {
  said <- as.character(said)
  of_cells <- "^(note|warning):? for the curator, not for publication: "
  tell_curator(sub(of_cells, "", grep(of_cells, said, value = TRUE)))
  notes <- trimws(unique(notes[nzchar(notes)]))
  if (length(notes)) {
    tell_curator(paste0("cells mapped by the public rule\n", paste0("  ", unlist(strsplit(notes, "\n")), collapse = "\n")))
  }
  for (note in grep(of_cells, said, value = TRUE, invert = TRUE)) {
    if (startsWith(note, "warning: ")) {
      words <- sub("^warning: ", "", note)
      warning(structure(class = c("dpglm_privacy_warning", "warning", "condition"), list(message = words, call = call)))
    } else {
      words <- paste0(trimws(note), "\n")
      message(structure(class = c("dpglm_note", "message", "condition"), list(message = words, call = NULL)))
    }
  }
}

tell_curator <- function(notes) {
  for (note in notes) {
    words <- paste0("note for the curator, not for publication: ", note, "\n")
    classes <- c("dpglm_curator_note", "message", "condition")
    if (!isTRUE(getOption("knitr.in.progress"))) {
      message(structure(class = classes, list(message = words, call = NULL)))
      next
    }
    # knitr prints messages into the page, which is for publication: this is none, and goes where the curator sees it.
    withRestarts(
      {
        signalCondition(structure(class = setdiff(classes, "message"), list(message = words, call = NULL)))
        cat(words, file = stderr())
      },
      muffleMessage = function() NULL
    )
  }
}

# Arguments as the library takes them.

number <- function(x, name, call = NULL) {
  if (is.null(x)) {
    return(NULL)
  }
  if (!is.numeric(x) || length(x) != 1 || is.na(x)) {
    refuse(name, " must be a number, got ", what_is(x), ": write it like 0.5", call = call)
  }
  as.double(x)
}

whole_number <- function(x, name, call = NULL) {
  if (is.null(x)) {
    return(NULL)
  }
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x < 0 || x != floor(x) || x > 2^53) {
    refuse(name, " must be a whole number of at least 0, got ", what_is(x), ": write it like 10", call = call)
  }
  as.double(x)
}

pair_of_numbers <- function(x, name, call = NULL) {
  if (is.null(x)) {
    return(NULL)
  }
  if (!is.numeric(x) || length(x) != 2 || anyNA(x)) {
    refuse(name, " must be two numbers, got ", what_is(x), ": write them like c(0, 1)", call = call)
  }
  I(as.double(x))
}

word <- function(x, name, call = NULL) {
  if (is.null(x)) {
    return(NULL)
  }
  if (!is.character(x) || length(x) != 1 || is.na(x)) {
    refuse(name, " must be one text, got ", what_is(x), call = call)
  }
  in_utf8(x, name, call)
}

# Declared text in UTF-8. What is none would be written out by its bytes, and then be another text.
in_utf8 <- function(text, name, call = NULL) {
  if (!all(validEnc(text))) {
    refuse(name, " has a text that is not in UTF-8: declare its encoding with Encoding(x) <- \"latin1\", or read the file in its own", call = call)
  }
  enc2utf8(text)
}

flag <- function(x, name, call = NULL) {
  if (!is.logical(x) || length(x) != 1 || is.na(x)) {
    refuse(name, " must be TRUE or FALSE, got ", what_is(x), call = call)
  }
  isTRUE(x)
}

what_is <- function(x) {
  if (is.numeric(x) && length(x) == 1) format(x) else paste0("a ", class(x)[1], " of length ", length(x))
}

budget_of <- function(epsilon, delta, insecure_seed, call = NULL) {
  list(
    epsilon = number(epsilon, "epsilon", call), delta = number(delta, "delta", call),
    insecure_seed = whole_number(insecure_seed, "insecure_seed", call)
  )
}

check_budget <- function(budget, call = NULL) {
  value_of(.Call(wrap__check_budget, budget), call)
}
