"""Questions of `07_make_it_train`: the quiz goes over the whole course."""

import numpy as np

from .. import experiments, layers
from ..experiments import workbench
from ..figures import words
from .kinds import Choice, Number, Question, right, wrong

TITLE = "07 Make it train"
EXERCISES = (
    "clip_by_global_norm",
    "sgd_steps",
    "exhibit 1",
    "exhibit 2",
    "exhibit 3",
    "exhibit 4",
    "exhibit 5",
    "exhibit 6",
)


def plain_with_adam():
    """Share of wrong answers, in percent, of 40 plain layers after 200 steps of Adam."""
    x, y = workbench.spirals()
    network = experiments.Classifier(40)
    *_, last = experiments.train(network, x, y, steps=200, every=200, optimizer="adam", lr=1e-3)
    return 100 * last.error


def directions_left():
    """Directions that take part after 32 plain ReLU layers: the median over ten networks."""
    return float(np.median([workbench.spectrum("plain, ReLU", 32, seed=s).directions for s in range(10)]))


def clipped_loss():
    """Loss of the clipped network after 400 steps."""
    *_, last = workbench.clipped_steps(layers.clip_by_global_norm, layers.sgd_steps)
    return last.progress[-1].loss


PREDICTIONS = {
    "plain_with_adam": Choice(
        "40 plain layers, Adam instead of SGD",
        "40 plain ReLU layers learn nothing in 400 steps of SGD with a learning rate of 0.02: 62.8 % of the training points "
        "are wrong, as many as if the network always named the arm with the most points. The same network, half as many "
        "steps, but Adam with a learning rate of 0.001. How many are wrong now?",
        {
            "More than 40 %: without shortcuts it is too deep": lambda error: error > 40,
            "Between 10 and 40 %": lambda error: 10 <= error <= 40,
            "Less than 10 %": lambda error: error < 10,
        },
        plain_with_adam,
        lambda error: f"{words(error)} % wrong",
        "“Deep plain networks do not train” was measured with one optimizer and one budget of steps. It says that they "
        "train worse at equal effort, not that they cannot.",
    ),
    "directions_left": Number(
        "directions that 32 plain ReLU layers pass on",
        "A plain ReLU network of 32 layers, 64 features wide, with He’s gain, so that the size of the signal is kept "
        "on average. Of the 64 directions in which its input can change, about how many take part in the change of "
        "its output?",
        directions_left,
        lambda count: f"about {words(count)} of 64 (the median of ten networks)",
        "The length of the signal survives, its variety does not: each layer stretches some directions and shrinks the "
        "others, and 32 such layers leave little more than one. Sizes alone do not show that.",
    ),
    "clipped_loss": Choice(
        "a network that explodes, clipped",
        "Ten residual tanh blocks without a norm, learning rate 0.15: within 40 steps the loss is past a million. "
        "Now every gradient longer than 1 is shortened to 1, and nothing else is changed. What is the loss after 400 "
        "steps?",
        {
            "Above 1: it still explodes, only later": lambda loss: not loss < 1,
            "Between 0.01 and 1: steady, but the short steps cost too much": lambda loss: 0.01 <= loss < 1,
            "Below 0.01: it learns": lambda loss: loss < 0.01,
        },
        clipped_loss,
        lambda loss: f"loss {words(loss)}",
        "Most of the first 90 steps are cut. Later the gradients are short by themselves, and clipping leaves them "
        "alone.",
    ),
}

QUIZ = {
    "residual_deleted": Question(
        "A residual block gives $y = [1.1, 2.3]$ for $x = [1.0, 2.0]$. You delete its branch. What does it give now?",
        wrong(
            "[0.1, 0.3]",
            "That is what the branch has added, y − x. It is what goes; what stays is what it was added to.",
        ),
        right(
            "[1.0, 2.0]",
            "Without its branch a residual block passes its input on. So a network can often spare one of its blocks.",
        ),
        wrong(
            "[0, 0]",
            "So it is in a plain network, where the layer is the only way. Here the shortcut still carries x.",
        ),
    ),
    "guarantee": Question(
        "The gradient through $x + f(x)$ is $1 + f'(x)$. What does the 1 guarantee?",
        wrong(
            "That the gradient never vanishes",
            "With f′ near −1 a block passes nothing, and with f′ = −0.1 in each of 50 blocks half a percent is left.",
        ),
        wrong(
            "That the gradient stays near 1 in a deep network",
            "Per block it may be near 1; over L blocks a small f′ is raised to the power L, up or down.",
        ),
        right(
            "A path of weight 1; the sum with the others can still vanish or explode",
            "The direct path is always there. What arrives is the sum over all paths, and it depends on the branches.",
        ),
    ),
    "unscaled": Question(
        "Twenty residual ReLU blocks without norms or scaled branches diverge in the third step of SGD at 0.02. Why?",
        wrong(
            "The gradient vanishes on its way to the first block",
            "The other way round: at the start the gradient at the first block is about a thousand times that at the last.",
        ),
        right(
            "Each block adds a branch as large as its input, so stream and gradients grow with depth",
            "Variances add up: the stream grows by roughly √2 a block. Scale the branches, or normalize what they get.",
        ),
        wrong(
            "ReLU cannot be used in a residual branch",
            "It can: with α = 1/√20, ReZero or LayerNorm before them the same branches learn without one wrong point.",
        ),
    ),
    "degradation": Question(
        "What is degradation, as the authors of the ResNet saw it?",
        right(
            "Deeper plain networks fit their training data worse",
            "Training error, not test error, and with healthy gradient norms: their networks had BatchNorm.",
        ),
        wrong(
            "Deep networks fit the training data too well and fail on the test data",
            "That is overfitting. In degradation the training error itself is higher.",
        ),
        wrong(
            "Gradients that vanish before they reach the first layers",
            "They looked for that and found healthy gradients. Vanishing gradients are another trouble.",
        ),
    ),
    "one_gradient": Question(
        "The gradients of all activations have about the same length, from first block to last. Is all well?",
        wrong(
            "Yes: gradients neither vanish nor explode",
            "Their lengths are fine. But 40 plain ReLU layers with He’s gain also keep it roughly, and learn nothing in 400 "
            "steps of SGD at 0.02.",
        ),
        right(
            "Not surely: lengths say nothing about how many directions are left",
            "Thirty-two plain ReLU layers keep the length on average and pass on little more than one direction.",
        ),
        wrong(
            "No: healthy gradients grow toward the first block",
            "In pre-norm networks they do, but that is no sign of health by itself.",
        ),
    ),
    "drift": Question(
        "Twenty linear layers that each multiply the spread by 0.8 leave 1 % of it. You halve what each layer takes away, so that its "
        "factor is 0.9. How much is left now?",
        wrong(
            "About 1.1 %",
            "0.9 / 0.8 is 1.125, but that is the gain of a single layer. Twenty such factors make more than ten.",
        ),
        wrong(
            "About 50 %",
            "Half as much taken by each layer is not half as much taken by all: twenty factors of 0.9 are multiplied.",
        ),
        right(
            "About 12 %",
            "0.9 to the power 20 is 0.12: ten times as much as before, and not enough. With depth only a factor next to 1 helps.",
        ),
    ),
    "layer_norm_axis": Question(
        "An array has the axes batch, tokens, features. Over which does LayerNorm in a transformer average?",
        wrong(
            "Batch and tokens",
            "That is BatchNorm: each feature over all examples, and neighbours change your result.",
        ),
        right(
            "Features",
            "Each token by itself: independent of batch, padding, other positions and of training mode.",
        ),
        wrong("Tokens and features", "Then later tokens would leak into earlier ones through the mean."),
    ),
    "sigma": Question(
        "When is the spread after LayerNorm (γ = 1, β = 0) clearly below 1?",
        wrong(
            "When the mean of the input is large",
            "The mean is taken away first; in exact arithmetic it plays no part.",
        ),
        wrong(
            "When there are many features",
            "The number of features changes nothing; it is an average over them.",
        ),
        right(
            "When the variance of the input is not much larger than ε",
            "It divides by √(σ² + ε): where σ² equals ε, the spread comes out as 0.71. A constant row gives 0.",
        ),
    ),
    "backward_norm": Question(
        "What does LayerNorm do to a gradient on its way back?",
        right(
            "Takes away two directions, and divides by the input’s spread",
            "The parts along 1 and along x̂ cannot change the output. What is left is divided by σ, so a small input "
            "makes it large.",
        ),
        wrong(
            "Gives it mean 0 and spread 1",
            "That is what it does to activations. The gradient is not normalized: its size depends on σ.",
        ),
        wrong(
            "Nothing, since γ is 1 and β is 0 at first",
            "The statistics depend on x too, so gradients flow through mean and variance.",
        ),
    ),
    "batch_eval": Question(
        "BatchNorm has kept a running mean of 10 and a running variance of 4; γ = 1, β = 0, ε next to nothing. In evaluation "
        "a batch of two examples comes, with the values 12 and 14. What are they normalized to?",
        wrong(
            "−1 and 1",
            "So it would be in training, by the mean and spread of these two: any two numbers become −1 and 1.",
        ),
        wrong(
            "0.5 and 1",
            "The mean is the running one, but that divides by the variance. The spread is its root, 2.",
        ),
        right(
            "1 and 2",
            "10 is taken away, and the rest divided by √4. Their company does not matter; alone 14 would give 2 as well.",
        ),
    ),
    "why_not_batch": Question(
        "Why do transformers rarely use BatchNorm?",
        wrong(
            "It cannot be computed where the sequences of a batch differ in length",
            "With padding masked it can, and such models have been trained. It works less well, for several reasons.",
        ),
        right(
            "Its statistics mix examples, and evaluation differs from training",
            "Lengths vary, padding must be masked, later tokens leak, small batches are noisy. LayerNorm has none of this.",
        ),
        wrong(
            "It has more parameters than LayerNorm",
            "Both have γ and β for each feature. BatchNorm keeps two running statistics besides, but no more weights.",
        ),
    ),
    "rms": Question(
        "The features of a token have mean 3 and spread 4. What spread do they have after RMSNorm (γ = 1, ε next to nothing)?",
        right(
            "0.8",
            "The mean square is 3² + 4² = 25. RMSNorm divides by its root, 5, and keeps the mean, which is 0.6 then.",
        ),
        wrong(
            "1",
            "LayerNorm gives 1, since it divides by the spread itself. RMSNorm divides by more wherever the mean is not 0.",
        ),
        wrong(
            "About 0.57",
            "That divides by 3 + 4. Mean and spread add as squares: the mean square is 9 + 16.",
        ),
    ),
    "pre_post": Question(
        "A pre-norm block `x + f(norm(x))` gets an x twice as large, far above √ε. What does its branch add now?",
        wrong(
            "Twice as much as before",
            "So it would be without the norm, if f were linear. What the norm gives to f does not change with the size of x.",
        ),
        wrong(
            "Half as much as before",
            "Compared with the stream it is half as much. The branch itself does the same as before.",
        ),
        right(
            "The same as before",
            "norm(2x) is norm(x), so the branch gets the same. But the stream is larger: late blocks change it less and less.",
        ),
        wrong(
            "Nothing: a norm cannot see sizes",
            "Because it does not see them, the branch is given what it always was, and adds what it always did.",
        ),
    ),
    "final_norm": Question(
        "A pre-norm stream has a root mean square of 1, and each of 15 branches adds independent values with a root mean "
        "square of 1. By about what does the final norm divide?",
        wrong(
            "By 1: each branch starts from normalized values",
            "What the branches are given is normalized. The stream that they are added to is not, and it grows.",
        ),
        right(
            "By 4",
            "Squares add up: the mean square is 1 + 15 = 16, and its root is 4. Without the norm the scores would grow with depth.",
        ),
        wrong(
            "By 16",
            "That adds sizes, as if all branches pointed the same way. Independent values add their squares: 16 is the mean square.",
        ),
    ),
    "rezero": Question(
        "ReZero: $y = x + α f(x)$, and α is 0 at first. What moves at the first step of plain SGD?",
        wrong(
            "Nothing: the branch gives 0, so it gets no gradient",
            "What the branch gives is one thing, its slope another. The gradient of α is dy times f(x), and f(x) is not 0.",
        ),
        wrong(
            "The weights of f, but not α",
            "The other way round: what arrives at f is multiplied by α, and that is 0.",
        ),
        right(
            "α, but not the weights of f",
            "The gradient of α holds f(x), which is not 0; that of the weights holds α, which is. From the second step on all move.",
        ),
        wrong(
            "α and the weights of f",
            "α moves. But the gradient of the weights comes through the product with α, which is still 0.",
        ),
    ),
    "clip": Question(
        "Two gradients have lengths 5 and 12. `clip_by_global_norm` with `max_norm=6.5`: what are their lengths then?",
        wrong(
            "5 and 6.5",
            "That clips each by itself, and turns the step away from the gradient’s direction.",
        ),
        right(
            "2.5 and 6",
            "Together they have length 13, twice too long, so both are halved, the short one too. The direction is kept.",
        ),
        wrong("2.7 and 6.5", "That lets the longest one decide. Together they would still have length 7.04."),
        wrong("1.9 and 4.6", "Lengths do not add up; squares do: √(5² + 12²) is 13, and not 17."),
    ),
    "nine_tenths": Question(
        "A mistake in your backward pass makes all gradients 0.9 times as long as they should be. What tells you?",
        wrong(
            "The training loss: a wrong gradient does not lead downhill",
            "This one does: its direction is right. With SGD it is a learning rate that is a tenth smaller, no more.",
        ),
        wrong(
            "Adam, since it looks at the size of gradients",
            "It notices least of all: it divides by that size, and a common factor is gone.",
        ),
        right(
            "Only a comparison with measured slopes",
            "Each slope is off by a tenth there. Shapes, directions and a falling loss are all as they should be.",
        ),
    ),
}
