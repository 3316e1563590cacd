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
    if (!is.name(call[[name]]) && !is.character(call[[name]])) call[[name]] <- as.name(paste0("<", name, ">"))
  }
  for (place in seq_along(call)[-1]) {
    if (inherits(call[[place]], "formula")) environment(call[[place]]) <- globalenv()
    if (!is.language(call[[place]]) && (is.list(call[[place]]) || length(call[[place]]) > 20)) call[[place]] <- as.name("...")
  }
  call[[1]] <- if (is.language(call[[1]])) call[[1]] else as.name("<function>")
  call
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

# Says what a result had to say.
tell <- function(said, call = NULL) {
  for (note in grep("^warning: ", said, value = TRUE)) {
    words <- sub("^warning: ", "", note)
    warning(structure(class = c("dpglm_privacy_warning", "warning", "condition"), list(message = words, call = call)))
  }
}

# Says to the curator what the public rule changed: it depends on private cells and is not for publication.
tell_curator <- function(notes) {
  notes <- trimws(unique(notes[nzchar(notes)]))
  if (length(notes)) {
    lines <- paste0("  ", unlist(strsplit(notes, "\n")), collapse = "\n")
    words <- paste0("note for the curator, not for publication: cells mapped by the public rule\n", lines, "\n")
    message(structure(class = c("dpglm_curator_note", "message", "condition"), list(message = words, call = NULL)))
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
  enc2utf8(x)
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
