"""CPU time of a call, for tests of what must be quick: the best of a few, so that a busy machine does not decide."""

import time


def cpu_seconds(run, tries=1):
    """Seconds of CPU that run() takes; the least of so many tries."""

    def once():
        start = time.process_time()
        run()
        return time.process_time() - start

    return min(once() for _ in range(tries))
