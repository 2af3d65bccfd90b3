"""An explorer and its usual cell (see everyone.py), a kernel each, by turns: what a change costs in both."""

from statistics import median


def measure(name, ours, usual, turns):
    """What one explorer costs, measured in these two kernels: numbers by their names; None where none applies."""
    ours.run(f"cell = everyone.Ours({name!r}, {turns})")
    usual.run(f"cell = everyone.Usual({name!r}, {turns})")
    row = {"first show, CPU ms": ours.value("cell.first_show")}
    if ours.value("cell.runs"):  # a change begins a training anew: told, not judged
        anew = _changes(ours, usual, turns // 4)
        row |= {f"anew: {what}": value for what, value in anew.items()} | _frames(ours, usual, turns)
    else:
        row |= _changes(ours, usual, turns)
    for kernel in (ours, usual):
        kernel.run("cell.close()")
    return row


BURST = 4  # changes in a turn, as when a slider is dragged


def _by_turns(expression, ours, usual, turns):
    """What both kernels say to an expression, so many times, until one says None."""
    for _ in range(turns):
        mine, base = ours.value(expression), usual.value(expression)
        if mine is None:
            return
        yield mine, base


def _changes(ours, usual, turns):
    rounds = _by_turns(f"cell.changes({BURST})", ours, usual, -(-turns // BURST))
    pairs = [pair for mine, base in rounds for pair in zip(mine, base)]
    blitted, redrawn = ([pair for pair in pairs if pair[0][0] == kind] for kind in (False, True))
    return {
        "changes": len(pairs),
        "changes that redraw": len(redrawn),
        "change, ratio": _middle(mine[1] / base[1] for mine, base in blitted),
        "change, CPU ms": _middle(mine[1] for mine, _ in blitted),
        "change, wall ms": _middle(mine[2] for mine, _ in blitted),
        "usual, CPU ms": _middle(base[1] for _, base in pairs),
        "redraw, ratio": _middle(mine[1] / base[1] for mine, base in redrawn),
        "redraw, CPU ms": _middle(mine[1] for mine, _ in redrawn),
    }


def _frames(ours, usual, turns):
    """The frames of a run: the work of a step, and the drawing, which alone differs."""
    for kernel in (ours, usual):
        kernel.run("cell.begin_run()")
    pairs = list(_by_turns("cell.frame()", ours, usual, min(turns, ours.value("cell.explorer.steps"))))
    return {
        "frame, ratio": _middle(mine[1] / base[1] for mine, base in pairs),
        "frame, CPU ms": _middle(mine[1] for mine, _ in pairs),
        "work of a frame, CPU ms": _middle(mine[0] for mine, _ in pairs),
    }


def _middle(values):
    """The median; None of nothing."""
    values = list(values)
    return median(values) if values else None
