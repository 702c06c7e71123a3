"""The scale of verdicts: what a claim's number deserves, from the number itself and the right one.

Promises: one scale for all claims, `SCALE`, so that two equal cases cannot be judged unequally; the ledger prints it,
and ``gpumoat.registry_check`` refuses a verdict that contradicts it, unless the claim gives the reason in `why`.

Left out: *inconsistent*, *opinion* and *unverifiable*, which no number decides; claims without a number, which a person
judges by the same words; and the choice of the right number, whose date is a rule for people too, `DATE`.
"""

SCALE = {
    "confirmed": "The right number, rounded to the digits that the document states, is the stated one. A bound such as "
    "“more than” is confirmed if the right number keeps it and lies within twice of it.",
    "approximately": "The stated number lies within a tenth of the right one, or one year beside it if it is a year or "
    "an age. Or it is a bound that is kept, but lies more than twice and at most ten times away. Of a claim in words: "
    "its main point holds, and something in it does not.",
    "outdated": "It was confirmed or approximately right when the document was written, and is neither today.",
    "wrong": "Everything else, also a bound that is kept and lies more than ten times away.",
    "inconsistent": "It contradicts the document itself.",
    "opinion": "No fact decides it.",
    "unverifiable": "A fact would decide it, and we found none that we could read.",
}
"""What each verdict means, in the words of the ledger. Every zero of a number counts as one of its digits."""

DATE = (
    "A claim is judged by the year of which it speaks; if it names none, by 2025, from which the newest figures of "
    "both documents are; and where no number of that year was found, by the one nearest to it."
)
"""The rule for the date of the right number."""

FORMS = ("more than", "less than", "year")
"""What a stated number can be, other than a plain number: a bound from below or from above, a year or an age."""

NEAR = 0.1
"""Within this share of the right number a number is approximately right."""

KEPT_WELL = 2
"""A bound that is kept is confirmed if the right number is at most so many times away."""

KEPT = 10
"""A bound that is kept is approximately right if the right number is at most so many times away."""

_SLACK = 1e-9


def stated_digits(value: int | float) -> int:
    """Return how many places after the point a value is stated to: 2 for 2.25, none for 648."""
    return 0 if isinstance(value, int) else len(repr(value).partition(".")[2])


def deserved(value: int | float, right: int | float, form: str = "") -> str:
    """Return what the scale says of a stated number: confirmed, approximately or wrong.

    Args:
        value: What the document states.
        right: What is right, in the same unit.
        form: One of `FORMS`, or empty for a plain number.

    Raises:
        ValueError: The form is unknown, or a bound is not above zero.
    """
    if form and form not in FORMS:
        raise ValueError(f"form {form!r} is unknown: use one of {', '.join(FORMS)}")
    if form in ("more than", "less than"):
        if value <= 0:
            raise ValueError(f"a bound must be above 0, not {value!r}: what counts is how many times away a number is")
        times = right / value if form == "more than" else value / right if right > 0 else 0.0
        if times * (1 + _SLACK) >= 1:
            if times <= KEPT_WELL * (1 + _SLACK):
                return "confirmed"
            return "approximately" if times <= KEPT * (1 + _SLACK) else "wrong"
    elif round(right, stated_digits(value)) == value:
        return "confirmed"
    if form == "year" and abs(value - right) <= 1:
        return "approximately"
    return "approximately" if abs(value - right) <= NEAR * abs(right) * (1 + _SLACK) else "wrong"


def contradiction(
    verdict: str, value: int | float, right: int | float, form: str = "", then: int | float | None = None
) -> str:
    """Return why the scale does not allow a verdict, or empty text where it does.

    Args:
        verdict: What the claim says of its number. *inconsistent* is allowed wherever the number is not confirmed.
        value: What the document states.
        right: What is right, in the same unit.
        form: One of `FORMS`, or empty.
        then: What was right when the document was written; without it nothing can be outdated.
    """
    scale = deserved(value, right, form)
    what = f"{form} {value!r}" if form in ("more than", "less than") else repr(value)
    found = f"{what} is stated and {right:.10g} is right: the scale says {scale}"
    if verdict == "outdated":
        if then is None:
            return f"{verdict}, but no `then` says what was right when it was written; {found}"
        was = deserved(value, then, form)
        if was == "wrong":
            return f"{verdict}, but {then:.10g} was right when it was written, so it was wrong even then; {found}"
        return "" if scale == "wrong" else f"{verdict}, but {found}"
    if verdict == "inconsistent":
        return f"{verdict}, but {found}" if scale == "confirmed" else ""
    return "" if verdict == scale else f"{verdict}, but {found}"
