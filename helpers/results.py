"""What a learner's answers came to, for whoever wants to hear it; `progress` does."""

_listeners: list = []


def listen(listener):
    """From now on call listener(kind, name, **result) after each answer; a name may be "quiz/question"."""
    _listeners.append(listener)


def tell(kind, name, **result):
    """Say that an exercise was checked, a prediction locked in or a question of a quiz answered."""
    for listener in _listeners:
        listener(kind, name, **result)
