"""Numbers that stand in a learner's formula, read off the answers: the 0.1 of x + 0.1 * f(x)."""

from dataclasses import replace

import numpy as np

from .slips import quiet

ROUGHLY = 3e-4  # of the largest entry: good enough to be tried, also in float32
STEPS, STEP = 12, 1e-6


def fitted(model, templates, probes, answers, bases=((),)):
    """The templates with those numbers that explain the answers, as slips.

    templates: slips in whose choice and message each # is a number; bases: slips that may be there besides: of
    these combinations, the first with which a template fits.
    """
    wanted = [np.asarray(part, float) for answer in answers if answer is not None for part in answer[0]]
    if len(wanted) < len(probes) or not all(np.all(np.isfinite(part)) for part in wanted):
        return []
    with quiet():
        for base in bases:
            free = [one for one in templates if one.decision not in {slip.decision for slip in base}]
            numbers = [(one, _numbers(model, (*base, one), probes, wanted)) for one in free]
            slips = [_filled(one, found) for one, found in numbers if found is not None]
            if slips:
                return slips
    return []


def _numbers(model, slips, probes, wanted):
    """The numbers for the # of the last slip, by Gauss-Newton steps from 1 on; None if no numbers will do."""
    *base, template = slips
    choices = {slip.decision: slip.choice for slip in base}
    right = np.concatenate([part.ravel() for part in wanted])

    def error(numbers):
        choice = _put(template.choice, numbers, repr)
        outputs = [model(*args, **choices, **{template.decision: choice})[0][0] for args in probes]
        if [part.shape for part in outputs] != [part.shape for part in wanted]:
            raise ValueError("another shape")
        return np.concatenate([part.ravel() for part in outputs]) - right

    try:
        numbers = _least_squares(error, np.ones(template.choice.count("#")))
        off = np.abs(error(numbers)).max()
    except (ValueError, np.linalg.LinAlgError):  # shapes do not fit, or nothing is finite
        return None
    same = np.any(np.isclose(numbers, [[0], [1]], rtol=0, atol=1e-6))
    return numbers if off < ROUGHLY * np.abs(right).max() and not same else None


def _least_squares(error, numbers):
    """The numbers where error(numbers) is least, from these on; each step is halved until it helps."""
    here = error(numbers)
    for _ in range(STEPS):
        slopes = np.stack(
            [(error(numbers + step) - here) / STEP for step in STEP * np.eye(len(numbers))], axis=1
        )
        step = np.linalg.lstsq(slopes, -here, rcond=None)[0]
        for share in (1, 1 / 2, 1 / 4, 1 / 8):
            there = error(numbers + share * step)
            if there @ there < 0.98 * (here @ here):
                break
        else:
            break
        numbers, here = numbers + share * step, there
    return numbers


def _filled(template, numbers):
    choice = _put(template.choice, numbers, "{:.6g}".format).replace("+ -", "- ")
    return replace(template, choice=choice, message=_put(template.message, numbers, "{:.4g}".format))


def _put(text, numbers, write):
    """The text with numbers for its #."""
    first, *rest = text.split("#")
    return first + "".join(write(float(number)) + after for number, after in zip(numbers, rest))
