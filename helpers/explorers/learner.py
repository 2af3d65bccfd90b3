"""The learner's own function in an explorer: used as it is, replaced by the reference while it is blank."""


def given(exercise, function):
    """The function that the picture runs: the learner's, or the reference when there is none yet."""
    return exercise.reference if function is None else exercise.or_reference(function)


def about(exercise, function, used=True):
    """What the sentence adds about whose function drew the picture; nothing when none was passed."""
    if function is None or not used:
        return ""
    if exercise.is_blank(function):
        return f" Your {exercise.name} is still blank: this is the reference."
    return f" Drawn with your {exercise.name}."
