"""The bug museum of notebook 07: the symptoms first."""

from .. import exercises, figures
from ..experiments import museum as museum_of_bugs
from ..live import Told
from ..running import Run

LOOKS = museum_of_bugs.STEPS // museum_of_bugs.EVERY + 1

REMARKS = {"not attempted": " This is the code as it was found.", "correct": " The bug is gone."}


def museum(number=1, function=None):
    """Train the network of an exhibit, 1 to 6, as it was found, or with your function; dotted: as it should be."""
    exhibit = exercises.exhibit(number)
    picture = figures.Symptoms(number, "as found" if function is None else "yours")

    remark = ""
    if function is not None:
        diagnosis = exhibit.diagnose(function)
        remark = REMARKS.get(diagnosis.outcome, "")

    def work():
        if function is not None and diagnosis.outcome == "raised":
            raise Told(diagnosis.message)
        here, healthy = (exhibit.symptoms(f) for f in (function or exhibit.found, exhibit.mended))
        seen = None
        for fine in healthy:
            seen = next(here, seen)  # one that diverged stays as it was
            yield seen, fine

    return Run(
        picture.figure,
        lambda state: picture.update(*state),
        work,
        LOOKS,
        LOOKS if function is None else 3,
        lambda: picture.sentence + remark,
    )
