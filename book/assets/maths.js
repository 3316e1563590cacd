// Formulas are drawn when a page is shown.
document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll(".arithmatex")) renderMathInElement(formula);
});
