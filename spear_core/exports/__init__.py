"""What somebody takes along: predictions as CSV, prototypes as .npz and in words, a report."""

from spear_core.exports.predictions import predictions_csv
from spear_core.exports.prototypes import prototypes_npz
from spear_core.exports.report import report_html
from spear_core.exports.terms import Terms, strongest_terms

__all__ = ["Terms", "predictions_csv", "prototypes_npz", "report_html", "strongest_terms"]
