"""A learner's way through a notebook: writes an answer, is told what is wrong, sees it, trains a network."""

import pytest
from playwright.sync_api import expect

RIGHT = """def backprop_chain(x, Ws, dout, residual=False):
    import numpy as np
    hs = [x]
    for W in Ws:
        a = np.tanh(hs[-1] @ W)
        hs.append(hs[-1] + a if residual else a)
    dhs, dWs = [dout], []
    for W, h in zip(reversed(Ws), reversed(hs[:-1])):
        dz = dhs[-1] * (1 - np.tanh(h @ W) ** 2)
        dWs.append(h.T @ dz)
        dhs.append(dz @ W.T + dhs[-1] if residual else dz @ W.T)
    return dhs[::-1], dWs[::-1]"""
FORGOT_THE_SLOPE = RIGHT.replace(" * (1 - np.tanh(h @ W) ** 2)", "")
BARS, TRAINING = "explorers.your_gradient_bars(", "explorers.deep_or_shallow()"
FAILS = "def backprop_chain(x, Ws, dout, residual=False):\n    return [dout / Ws], []"


def write(notebook, name, source, needed):
    """Write an answer over the blank one, then run the cells that `needed` needs (see `Notebook.run`)."""
    notebook.page.evaluate(
        """([name, source]) => {
          const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
          cells.find(cell => cell.getSource().startsWith(`def ${name}(`)).setSource(source);
        }""",
        [name, source],
    )
    assert notebook.run(needed) == []


def bars(notebook):
    return notebook.output(BARS).locator("img[width]")


def test_a_wrong_answer_is_named_and_visibly_wrong_and_the_right_one_is_not(open_notebook):
    notebook = open_notebook("02_gradient_flow", BARS)
    check = notebook.output("exercises.backprop_chain.check(")
    expect(check).to_contain_text("not attempted")
    blank = bars(notebook).get_attribute("title")
    assert "Your backprop_chain and grad_norms are still blank: these are the references." in blank
    measured = blank.split(" Your ")[0]
    write(notebook, "backprop_chain", FORGOT_THE_SLOPE, BARS)
    expect(check).to_contain_text("backprop_chain: wrong")
    expect(check).to_contain_text("tanh")
    wrong = bars(notebook).get_attribute("title")
    assert "Drawn with your backprop_chain." in wrong and measured not in wrong
    write(notebook, "backprop_chain", RIGHT, BARS)
    expect(check).to_contain_text("backprop_chain: correct")
    right = bars(notebook).get_attribute("title")
    assert right.startswith(measured) and "Drawn with your backprop_chain." in right


def test_an_exception_in_an_answer_shows_the_learners_line(open_notebook):
    notebook = open_notebook("02_gradient_flow", BARS)
    write(notebook, "backprop_chain", FAILS, BARS)
    expect(notebook.output("exercises.backprop_chain.check(")).to_contain_text("return [dout / Ws], []")
    alert = notebook.output(BARS).get_by_role("alert")
    expect(alert).to_contain_text("in backprop_chain, line 2")


@pytest.mark.slow
def test_training_starts_stops_and_keeps_what_is_there(open_notebook):
    notebook = open_notebook("02_gradient_flow", TRAINING)
    area = notebook.output(TRAINING)
    sentence = area.get_by_role("status").last
    expect(sentence).to_contain_text("After 40 steps")
    start, stop = area.get_by_role("button", name="Start"), area.get_by_role("button", name="Stop")
    expect(stop).to_be_disabled()
    start.focus()
    notebook.page.keyboard.press("Enter")
    expect(sentence).not_to_contain_text("After 40 steps")
    stop.click()
    expect(stop).to_be_disabled()
    notebook.page.wait_for_timeout(1000)  # the step that was being done is finished and shown
    kept = sentence.inner_text()
    notebook.page.wait_for_timeout(1500)
    assert sentence.inner_text() == kept and "After 400" not in kept
    start.click()
    expect(area.get_by_text("done", exact=True)).to_be_visible(timeout=60_000)
    expect(sentence).to_contain_text("After 400 steps")
