#' Private means, linear regression and generalized linear models
#'
#' You give a table, public bounds and a privacy budget; you get coefficients with confidence intervals that can be published, and a
#' certificate that says what left and what it cost. [dp_glm()] fits models, [dp_mean()] and [dp_describe()] describe tables,
#' [dp_plan()] says how many rows a study needs, and [dp_audit()] attacks a method to see whether it keeps its promise.
#'
#' @section Bounds are public:
#' Noise is added in proportion to what [dp_bounds()] declares, so every bound and level has to come from outside the table: a code book,
#' the law, common sense. Values outside count as the nearest end. Nothing is ever read off the rows: not levels, not scales, not knots.
#'
#' @section What is private:
#' What these functions return is private and may be published, with the exceptions that their pages state: results of [dp_audit()],
#' predictions for private rows, and the messages of class `dpglm_curator_note`. A data frame's names, types and number of rows are taken
#' to be public.
#'
#' @useDynLib dpglm, .registration = TRUE
#' @importFrom stats anova coef confint deviance df.residual family fitted formula gaussian logLik nobs predict residuals vcov weights
#' @keywords internal
"_PACKAGE"
