# Artefacts: the self-describing JSON that the command writes, and what R shows of it.

# An artefact's text as an object. Its certificate's claim is computed again from the events it lists.
dp_artefact <- function(json, call = NULL) {
  read <- value_of(.Call(wrap__open_artefact, json), call)
  kind <- switch(sub("/.*", "", read$document$schema), dpglm.fit = "dp_fit", dpglm.mean = "dp_mean", "dp_description")
  structure(list(json = read$json, document = read$document, table = read$table), class = c(kind, "dp_artefact"))
}

#' Artefacts as files
#'
#' `dp_save()` writes a fit, means or a description as the command `dpglm` does, for `dpglm show`, `dpglm predict` and others; with a key a signature is
#' written beside it. `dp_read()` reads such a file, and `dp_json()` gives its text.
#'
#' @param x A result of [dp_glm()], [dp_mean()] or [dp_describe()]; for `dp_json()` also of [dp_plan()] or [dp_audit()].
#' @param file The path of the artefact.
#' @param key_file A file with a secret key, made by `dp_keygen()`.
#' @param key The public key of who must have signed the file; an error if it was not signed with it, or if a single byte was changed.
#' @return `dp_read()` an object like the one that was saved; `dp_json()` and `dp_keygen()` (the public key) a text.
#' @examples
#' mean <- dp_mean(data.frame(x = runif(500)), dp_bounds(x = c(0, 1)), epsilon = 1, delta = 1e-6)
#' file <- tempfile(fileext = ".json")
#' dp_save(mean, file)
#' dp_read(file)
#' @export
dp_save <- function(x, file, key_file = NULL) {
  call <- sys.call()
  if (!inherits(x, "dp_artefact")) refuse("x is no result of dp_glm(), dp_mean() or dp_describe()", call = call)
  key_file <- if (!is.null(key_file)) path.expand(word(key_file, "key_file", call))
  value_of(.Call(wrap__save_artefact, x$json, path.expand(word(file, "file", call)), key_file), call)
  invisible(x)
}

#' @rdname dp_save
#' @export
dp_read <- function(file, key = NULL) {
  call <- sys.call()
  file <- path.expand(word(file, "file", call))
  if (!file.exists(file)) refuse("there is no file ", file, call = call, usage = FALSE)
  json <- if (is.null(key)) text_of_file(file) else value_of(.Call(wrap__verify_artefact, file, word(key, "key", call)), call)
  dp_artefact(json, call)
}

text_of_file <- function(file) {
  text <- readChar(file, file.size(file), useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  text
}

#' @rdname dp_save
#' @export
dp_json <- function(x) {
  if (!inherits(x, c("dp_artefact", "dp_plan", "dp_audit"))) refuse("x is no result of this package", call = sys.call())
  x$json
}

#' @rdname dp_save
#' @export
dp_keygen <- function(file) {
  call <- sys.call()
  value_of(.Call(wrap__make_key, path.expand(word(file, "file", call))), call)
}

#' @export
print.dp_artefact <- function(x, ...) {
  cat(trimws(x$table, "right"), "\n\n", sep = "")
  print(certificate(x))
  invisible(x)
}
