BUDGET <- list(epsilon = 1, delta = 1e-6)

people <- function(n = 3000, seed = 1) {
  set.seed(seed)
  frame <- data.frame(
    age = round(runif(n, 18, 90), 2), visits = rpois(n, 2),
    sex = sample(c("Female", "Male"), n, TRUE), work = sample(c("Private", "State", "Self"), n, TRUE, c(0.5, 0.3, 0.2))
  )
  frame$income <- rbinom(n, 1, plogis(-2 + 0.03 * frame$age + 0.7 * (frame$sex == "Male")))
  frame
}

BOUNDS <- dp_bounds(
  age = c(17, 90), visits = c(0, 9), sex = c("Female", "Male"), work = c("Private", "State", "Self"), income = dp_levels(0:1)
)

quietly <- function(code) {
  muffle <- function(note) invokeRestart("muffleMessage")
  withCallingHandlers(code, dpglm_curator_note = muffle, dpglm_note = muffle)
}

# All that is said while code runs, by class.
said_by <- function(code) {
  said <- list()
  keep <- function(condition) {
    said[[length(said) + 1]] <<- condition
    if (inherits(condition, "warning")) invokeRestart("muffleWarning") else invokeRestart("muffleMessage")
  }
  withCallingHandlers(code, message = keep, warning = keep)
  said
}

fitted_people <- function(...) {
  quietly(dp_glm(income ~ age + sex, people(), binomial(), BOUNDS, epsilon = 1, delta = 1e-6, insecure_seed = 7, ...))
}

# How loud the noise of each release is. A plan has it in units of the release's sensitivity; how often, a fit says one by one.
noise_of <- function(promise) {
  events <- promise$events
  stopifnot(length(events) > 5)
  name <- vapply(events, function(event) event$release, "")
  loud <- vapply(events, function(event) sum(event$sigma, event$scale) / event$sensitivity, 0)
  count <- vapply(events, function(event) as.double(event$count), 0)
  found <- stats::aggregate(count ~ name + loud, data.frame(name, loud = signif(loud, 3), count), sum)
  found[order(found$name, found$loud), ]
}

# The command, which the tests of the repository build. Elsewhere there is none to compare with.
command <- function(...) {
  program <- Sys.getenv("DPGLM")
  skip_if(program == "", "DPGLM names no command")
  output <- tempfile(fileext = ".json")
  said <- suppressWarnings(system2(program, shQuote(c(..., "--output", output)), stdout = TRUE, stderr = TRUE))
  if (!file.exists(output)) stop(paste(said, collapse = "\n"))
  paste0(readChar(output, file.size(output)))
}

refusal <- function(...) {
  program <- Sys.getenv("DPGLM")
  skip_if(program == "", "DPGLM names no command")
  suppressWarnings(paste(system2(program, shQuote(c(...)), stdout = TRUE, stderr = TRUE), collapse = "\n"))
}

# A flag as an argument: the words are the same.
words <- function(text) gsub("-", "_", gsub("--", "", sub("^error: ", "", text)))
