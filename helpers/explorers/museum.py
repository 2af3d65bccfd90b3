"""The bug museum of notebook 07: the symptoms first."""

from collections.abc import Callable

from .. import exercises, figures
from ..exercises.showing import Shown
from ..experiments import museum as museum_of_bugs
from ..live import Told
from ..running import Run

LOOKS = museum_of_bugs.STEPS // museum_of_bugs.EVERY + 1

REMARKS = {"correct": " The bug is gone.", "wrong": " The check says what is still wrong."}


def museum(number: int = 1, function: Callable | None = None) -> Run | Shown:
    """Train the network of an exhibit, 1 to 6, as it was found, or with your function; dotted: as it should be.

    A function that is still as it was found has no picture of its own.
    """
    exhibit = exercises.exhibit(number)
    picture = figures.Symptoms(number, "as found" if function is None else "yours")
    found = None if function is None else exhibit.diagnose(function)
    if found and found.outcome == "not attempted":
        return Shown(f"exhibit {number}: not mended yet", "Its training will be shown here.", found.outcome)

    def work():
        if found and found.mistake == "unusable":
            raise Told(found.message)
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
        lambda: picture.sentence + (REMARKS[found.outcome] if found else ""),
    )
