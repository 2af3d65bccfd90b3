"""Work that takes time: it starts at once, goes on with Start, and Stop keeps what is there."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from matplotlib.figure import Figure

from helpers import controls, explorers
from helpers.running import Run

from .timing import cpu_seconds

STEPS = 10


@pytest.fixture
def run():
    """Counts to ten, two at once; at 7 it fails when the control says so."""
    figure = Figure(figsize=(3, 2))
    ax = figure.subplots()
    (line,) = ax.plot([], [])
    counted = []

    def count(fails):
        for number in range(1, STEPS + 1):
            if fails and number == 7:
                raise ArithmeticError("seven")
            yield number

    def update(state):
        counted.append(state)
        line.set_data([0, 1], [0, state or 0])
        return [line]

    made = Run(
        figure,
        update,
        count,
        STEPS,
        2,
        lambda: f"at {counted[-1]}",
        fails=controls.choice("fails", ("no", False), ("yes", True)),
    )
    made.counted = counted
    return made


def in_a_loop(coroutine):
    """Run it in an event loop of its own; in another thread, because a browser test may have left one here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result(60)


def wait_for(run):
    """Let the task go on to its end, as the kernel's loop would."""

    async def going():
        run.start()
        await run.task

    in_a_loop(going())


def test_a_short_run_is_there_at_once(run):
    assert (run.sentence, run.bar.value, run.told.value) == ("at 2", 2, "press Start")
    assert not run.start_button.disabled and run.stop_button.disabled


def test_start_goes_on_to_the_end(run):
    wait_for(run)
    assert run.counted[-1] == STEPS and run.told.value == "done"
    assert run.start_button.disabled and run.stop_button.disabled and run.error is None


def test_stop_keeps_what_is_there_and_start_goes_on_from_it(run):
    async def stop_at_five():
        run.start()
        while run.done < 5:
            await asyncio.sleep(0.001)
        run.stop()
        await asyncio.sleep(0.05)
        assert run.done == 5 and run.sentence == "at 5"

    in_a_loop(stop_at_five())
    assert not run.start_button.disabled
    wait_for(run)
    assert run.counted[-6:] == [5, 6, 7, 8, 9, 10]


def test_the_kernel_hears_other_messages_in_between(run):
    heard = []

    async def listening():
        run.start()
        while run.running:
            heard.append(run.done)
            await asyncio.sleep(0)

    in_a_loop(listening())
    assert len(set(heard)) > 3


def test_moving_a_control_or_reset_begins_again(run):
    wait_for(run)
    run.set(fails=True)
    assert run.done == 2 and not run.running
    run.reset()
    assert run.values() == {"fails": False} and run.done == 2
    wait_for(run)
    assert run.done == STEPS
    run.reset()
    assert run.done == 2


def test_start_rests_while_the_work_begins_again(run):
    seen, step = [], run.step
    run.step = lambda: seen.append((run.start_button.disabled, run.told.value)) or step()
    run.set(fails=True)
    assert seen == [(True, "begins anew …")] * 2
    assert not run.start_button.disabled and run.told.value == "press Start"


def test_stop_and_start_at_once_leave_one_task(run):
    async def in_a_hurry():
        run.start()
        await asyncio.sleep(0.001)
        first = run.task
        run.stop(), run.start()
        await run.task
        assert first.cancelled()

    in_a_loop(in_a_hurry())
    assert run.counted == list(range(2, STEPS + 1)) and run.told.value == "done"


def test_an_error_in_the_work_is_shown_and_ends_it(run):
    run.set(fails=True)
    wait_for(run)
    assert isinstance(run.error, ArithmeticError) and "seven" in run._alert.value
    assert not run.running and run.sentence == "at 6"


def test_two_networks_of_one_seed_train_alike_however_it_is_chopped():
    explorer = explorers.deep_or_shallow()
    explorer.set(depth=10)
    wait_for(explorer)
    chopped = explorer.state
    *_, straight = explorer.work(**explorer.values())
    assert chopped == straight
    assert straight["shallow"][-1].step == 400


@pytest.mark.parametrize("name", list(explorers.ALL))
def test_no_explorer_blocks_for_five_seconds(name):
    assert cpu_seconds(explorers.ALL[name]) < 5
