"""Tables of the bias study; pure functions of its findings."""

from __future__ import annotations

import pandas as pd

from relens.association import AssociationTest
from relens.percent import p_value_text
from relens.studies.bias_findings import BiasFindings
from relens.studies.bias_shares import FEWEST_EFFECTIVE, VariantFindings
from relens_dashboard.glossary import term
from relens_dashboard.studies.view import Table

_TESTS = {
    "chi-squared": "chi-squared",
    "G": "G (log-likelihood ratio)",
    "paper": "chi-squared as in the paper",
}


def statistics_table(findings: BiasFindings) -> Table:
    """One line a test; an exact distribution has a line without a test, since nothing was drawn."""
    lines = []
    for variant in findings.variants:
        lines += [_statistics(variant, test) for test in variant.tests or (None,)]
    return Table(
        "Statistics",
        pd.DataFrame(lines),
        {
            "Test": "Chi-squared and G test whether the subjects have the same distribution, on effective counts. The "
            "paper's own takes the counts of the second subject as expected for the first; it is no two-sample test "
            "and finds significance too easily.",
            "p": f"{term('p-value')} An exact distribution is a fact about the model, so it has none.",
            "Cramér's V": term("Cramér's V"),
            "V, 95 %": "The bootstrap interval of Cramér's V.",
        },
    )


def _statistics(variant: VariantFindings, test: AssociationTest | None) -> dict[str, object]:
    strength = variant.cramers_v
    return {
        "Way to ask": variant.setup.label,
        "Test": "none: exact" if test is None else _TESTS.get(test.name, test.name),
        "Statistic": None if test is None else test.statistic,
        "Degrees of freedom": None if test is None else test.degrees_of_freedom,
        "p": "–" if test is None else p_value_text(test.log10_p) if test.degrees_of_freedom else "nothing to test",
        "Cramér's V": strength.value,
        "V, 95 %": "–" if variant.setup.exact else f"{strength.low:.3f} to {strength.high:.3f}",
    }


def share_table(findings: BiasFindings) -> Table:
    """P(outcome | subject) with its interval."""
    return Table(
        "Shares",
        pd.DataFrame(
            [
                {
                    "Way to ask": variant.setup.label,
                    "Subject": share.subject,
                    "Outcome": share.outcome,
                    "Share": share.share.value,
                    "From": share.share.low,
                    "To": share.share.high,
                    "Draws": None if variant.setup.exact else share.count,
                }
                for variant in findings.variants
                for share in variant.shares
            ]
        ),
        {
            "Share": "The probability of the outcome given the subject, without ambiguous matches.",
            "From": "The lower end of the 95 % interval; of an exact share, its lower bound.",
            "To": "The upper end of the 95 % interval; of an exact share, its upper bound.",
            "Draws": "The number of draws with this outcome, unweighted.",
        },
    )


def account_table(findings: BiasFindings) -> Table:
    """The draws and the work behind the shares of each subject."""
    return Table(
        "Draws and work",
        pd.DataFrame(
            [
                {
                    "Way to ask": variant.setup.label,
                    "Subject": account.subject,
                    "Draws": account.ended_draws or None,
                    "Sample size": account.draws or None,
                    "Effective sample size": account.effective_samples,
                    "Failed draws": account.work.failed,
                    "Ambiguous": account.ambiguous,
                    "Unexplored mass": account.open_share,
                    "Calls of the model": account.work.forwards,
                    "Seconds": round(account.work.seconds_total, 2),
                }
                for variant in findings.variants
                for account in variant.accounts
            ]
        ),
        {
            "Draws": "The number of draws so far. Fewer than the sample size carry no conclusion: the draws that end "
            "first are no random part of all.",
            "Effective sample size": f"{term('effective sample size')} Below {FEWEST_EFFECTIVE:.0f}, no conclusion.",
            "Ambiguous": "The share of the weight that is as near to one reading as to another; it is left out.",
            "Unexplored mass": "Of an exact distribution: the share that is still unexplored, at most.",
            "Failed draws": "Draws after which nothing of the template can follow.",
        },
    )


def residual_table(findings: BiasFindings) -> Table:
    """The distance of each cell from its value without association."""
    return Table(
        "Residuals",
        pd.DataFrame(
            [
                {
                    "Way to ask": variant.setup.label,
                    "Subject": variant.setup.subjects[cell.group],
                    "Outcome": variant.setup.outcomes[cell.outcome],
                    "Residual": cell.residual,
                    "p": p_value_text(cell.log10_p),
                    "p, corrected": p_value_text(cell.log10_p_holm),
                    "Few expected": cell.small,
                }
                for variant in findings.variants
                for cell in variant.residuals
            ]
        ),
        {
            "Residual": f"{term('residual')} Above 0 there is more of it than without association.",
            "p": term("p-value"),
            "p, corrected": f"By Holm's method, for looking at all cells. {term('Holm correction')}",
            "Few expected": "Too few are expected for reliable p-values.",
        },
    )
