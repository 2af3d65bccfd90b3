"""Questions of `02_gradient_flow`."""

import functools

from .. import experiments
from ..experiments.shattered import autocorrelation, gradient_curve
from ..figures import words
from .kinds import Choice, Question, right, wrong

TITLE = "02 Gradient flow"
EXERCISES = ("backprop_chain", "grad_norms")


def bars(gain, wiring, activation, layers=32):
    """What is left of the gradient at the input of the network that the gradient bars show."""
    return experiments.gradient_norms(layers, wiring, activation=activation, gain=gain).ratio


def _times(ratio):
    return f"at the input it is {words(ratio)} times as long as at the output"


@functools.cache
def training_losses():
    """Train a plain network of 4 and one of 40 layers for 200 steps each; their training losses."""
    return {depth: _loss(depth) for depth in (4, 40)}


def _loss(depth):
    network, (x, y) = experiments.Classifier(depth), experiments.spirals()
    *_, last = experiments.train(network, x, y, steps=200, every=200)
    return last.loss


PREDICTIONS = {
    "gradient_left": Choice(
        "0.95 at each of 50 layers",
        "Each layer passes 95 % of the gradient on. How much is left after 50 layers?",
        {
            "About half": lambda left: left > 0.3,
            "About a tenth": lambda left: 0.01 <= left <= 0.3,
            "Less than a hundredth": lambda left: 0 < left < 0.01,
            "Nothing: 50 times 5 % is more than there is": lambda left: left <= 0,
        },
        lambda: experiments.toy_gradient_norms(50, 0.95, residual=False)[0],
        lambda left: f"{words(left)} of it is left",
        "Losses multiply, they do not add: `0.95 ** 50`. With 0.9 at each layer 0.00515 is left. A factor below 1 "
        "shrinks the gradient exponentially, however near 1 it is, and it never gets to exactly 0.",
    ),
    "residual_bars": Choice(
        "64 layers with residual connections",
        "With residual connections and gain 0.8, the gradient grows to about 12 times its length on its way back through "
        "32 tanh layers. Through 64 layers, it grows to",
        {
            "about 12 times its length": lambda ratio: ratio < 16,
            "about 35 times its length": lambda ratio: 16 <= ratio < 75,
            "about 140 times its length, the square of 12": lambda ratio: ratio >= 75,
        },
        lambda: bars(0.8, "residual", "tanh", layers=64),
        _times,
        "Each layer adds a branch to what came, so the gradient goes on growing. But on the way forward the stream has "
        "grown too, and tanh is flat where its input is large: the later a block, the less it adds. With linear layers "
        "the growth is exponential, and twice the depth makes about the square.",
    ),
    "relu_gain": Choice(
        "plain ReLU network, gain 1.4",
        "A plain network of 32 ReLU layers, no shortcut, gain 1.4. "
        "How long is the gradient at the input, compared with the output?",
        {
            "Less than a hundredth of it": lambda ratio: ratio < 0.01,
            "Of about the same length": lambda ratio: 0.01 <= ratio <= 100,
            "More than a hundred times as long": lambda ratio: ratio > 100,
        },
        lambda: bars(1.4, "plain", "relu"),
        _times,
        "A ReLU lets half of the squared signal through, and a gain of √2 ≈ 1.4 doubles it again. With gain 1 the "
        "same network loses all but 1 part in 10,000 or less. Before any training, the gain decides.",
    ),
    "shattered": Choice(
        "gradients at neighbouring inputs, 24 plain layers",
        "A plain network of 24 ReLU layers with BatchNorm takes one number as its input. You look at its "
        "gradient at 256 inputs between −2 and 2. How alike are the gradients at two neighbours? A correlation "
        "of 1 means the same, 0 means nothing in common.",
        {
            "Nearly the same: above 0.8": lambda alike: alike > 0.8,
            "Somewhat alike: between 0.3 and 0.8": lambda alike: 0.3 <= alike <= 0.8,
            "Nothing in common: below 0.3, either way": lambda alike: alike < 0.3,
        },
        lambda: autocorrelation(gradient_curve("plain + batch norm", 24).gradient),
        lambda alike: f"correlation {words(alike, 2)}",
        "The gradient has the right size and tells you nothing about the next point: it is shattered, like white "
        "noise. Without BatchNorm the same plain network stays far smoother, and so does a residual one.",
    ),
    "deep_or_shallow": Choice(
        "training loss, 4 and 40 plain layers",
        "Two plain ReLU networks, 4 and 40 layers deep, learn the same points with SGD "
        "at a learning rate of 0.02, for 200 steps. Which of them has the lower loss on the points that it was trained with?",
        {
            "The one with 4 layers": lambda loss: loss[4] < loss[40] / 2,
            "Both about the same": lambda loss: 0.5 <= loss[4] / loss[40] <= 2,
            "The one with 40 layers: it can do all that the other can": lambda loss: loss[40] < loss[4] / 2,
        },
        training_losses,
        lambda loss: f"loss {words(loss[4], 2)} with 4 layers, {words(loss[40], 2)} with 40",
        "The deep network could copy the shallow one and pass its result on, so it can do as well; it does not "
        "find that in these steps. At a smaller rate, 400 steps are enough. This is degradation, and "
        "it happens although the gain of √2 keeps the gradient alive at first.",
    ),
}

QUIZ = {
    "degradation": Question(
        "He et al. (2015) saw a plain network of 56 layers with a higher training error than one of 20. "
        "Why, according to them?",
        wrong(
            "The gradients vanished",
            "Their plain networks had BatchNorm, and the gradients were of healthy size; they call vanishing an "
            "unlikely cause. Vanishing is real in other networks, but it is not this.",
        ),
        wrong(
            "The deeper network overfitted",
            "An overfitted network has a low training error and a high test error. Here the training error itself was "
            "higher.",
        ),
        right(
            "It is hard to optimize for another reason; perhaps it converges very slowly",
            "They call it degradation and only conjecture slow convergence. Shortcuts helped against it. "
            "In networks without normalization shortcuts help against vanishing gradients as well: two different "
            "claims, each with its own setting.",
        ),
        wrong(
            "It could not represent what the shallow one could",
            "It could: copy the 20 layers and let the other 36 pass their input on. The solution exists, "
            "training did not find it.",
        ),
    ),
    "gain": Question(
        "A plain ReLU network of 32 layers, gain 1, loses its gradient. You may not "
        "add a shortcut. What keeps the gradient alive when the network is fresh?",
        right(
            "A gain of about 1.4",
            "A ReLU passes about half of the squared signal, so each layer multiplies its square by gain²/2. "
            "Gain √2 makes that 1 (He initialization). It helps a fresh network; it does not promise that a deep "
            "one trains.",
        ),
        wrong(
            "A gain of 0.5: smaller weights are gentler",
            "Smaller weights multiply the gradient by a smaller number at every layer, so it vanishes faster.",
        ),
        wrong(
            "Nothing does: without shortcuts a deep network's gradient has to vanish",
            "It vanishes, stays or explodes, depending on the gain. Gain 2 makes this same network's gradient explode.",
        ),
    ),
    "two_gradients": Question(
        "Of one network you plot the size of $∂L/∂W$, layer by layer, and your neighbour plots $∂L/∂h$. "
        "The curves have different shapes. Who made a mistake?",
        wrong(
            "You: only the gradient of the activations shows whether it vanishes",
            "The weights are what a step changes, so their gradient counts too. The two answer different questions.",
        ),
        wrong(
            "Your neighbour: activations are not trained, so they have no gradient",
            "They have one; it is what flows backward. Frameworks do not keep it, which is why `.grad` of an "
            "intermediate value is None in PyTorch unless you call `retain_grad()`.",
        ),
        wrong(
            "One of you: by the chain rule both must have the same shape",
            "The weights' gradient is the activations' gradient times the layer's input. If the input's size "
            "changes from layer to layer, the curves differ.",
        ),
        right(
            "Nobody: they are different quantities",
            "The gradient of W is what arrives at the layer times the layer's input; that of h is what "
            "arrives at all. Say which one a plot shows.",
        ),
    ),
    "detached_skip": Question(
        "In a framework someone writes a block as `y = x.detach() + f(x)`. What changes?",
        wrong(
            "Nothing: y has the same values",
            "Forward, nothing changes, which is why this bug is easy to miss. Backward, the path of weight 1 is "
            "gone.",
        ),
        right(
            "Forward nothing; backward the gradient goes through f only",
            "A detached value counts as a constant. The factor at each block is f′ and no longer 1 + f′, as in a plain "
            "network. Look at the gradients, not at the outputs, to find it.",
        ),
        wrong(
            "Backward everything stops: the block passes no gradient on",
            "The branch still sees x itself, so f′ times the gradient goes on. Only the shortcut's part is missing.",
        ),
    ),
    "zero_grad": Question(
        "A loss has the same gradient g everywhere. A loop in PyTorch takes 4 steps of plain SGD with the learning rate lr, "
        "each by `loss.backward()` and `optimizer.step()`, but never calls `zero_grad()`. How far does the weight move in all?",
        wrong(
            "4 lr · g: one g for each step",
            "That is with clearing. Without it `backward` adds to what is already in `.grad`, and each step uses the sum.",
        ),
        wrong(
            "lr · g: from the second step on the gradient is 0",
            "Clearing would set it to 0 before the next `backward`. Without clearing it is never 0 again, it piles up.",
        ),
        right(
            "10 lr · g",
            "The steps use g, 2g, 3g and 4g, the sums of all gradients so far, and these add up to 10g. The steps behave as "
            "if the learning rate kept growing, and most of the gradients in them are long out of date.",
        ),
        wrong(
            "16 lr · g: four gradients in each of four steps",
            "Only the last step has four gradients in it. They pile up one by one: g, 2g, 3g, 4g.",
        ),
    ),
    "two_paths": Question(
        "The gradient $dy$ arrives at $y = x + f(x)$. The shortcut brings $dy$ to $x$, the branch brings $dy · f'(x)$. "
        "What is the gradient at $x$?",
        wrong(
            "Their mean, since x is used twice",
            "Used twice means added twice: a small change of x changes y by both paths at once. A mean would halve the "
            "gradient at every block.",
        ),
        wrong(
            "The larger one: the gradient takes the better path",
            "It takes both. That is why the two can also cancel, at f′ = −1.",
        ),
        right(
            "Their sum",
            "A change of x reaches y by both paths, and the two effects add up: dx = dy · (1 + f′).",
        ),
        wrong(
            "Their product",
            "Factors multiply along one path, layer after layer. Paths side by side add.",
        ),
    ),
}
