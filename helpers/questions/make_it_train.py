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
        "Ten residual tanh blocks without a norm, learning rate 0.15: within 100 steps the loss is in the millions. "
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
    "residual_sum": Question(
        "A block’s branch gives $f(x) = [0.1, 0.3]$ for $x = [1.0, 2.0]$. What does the residual block give?",
        wrong(
            "[0.1, 0.3]", "That is the branch alone: the plain layer. A residual block adds it to its input."
        ),
        right(
            "[1.1, 2.3]",
            "Input plus branch, entry by entry. If the branch gives 0, the block changes nothing.",
        ),
        wrong(
            "[0.1, 0.6]",
            "That is the product. A product of inputs and branch has no direct path: if f is 0, nothing passes.",
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
        "Twenty residual blocks without norms or scaled branches diverge in the third step. Why?",
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
            "It can: with α = 1/√20, ReZero or a norm the same branches learn without one wrong point.",
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
        "Each linear layer multiplies the spread by $0.9$. What is left after 20 layers?",
        wrong("About 82 %", "That takes 2 × 0.1 off once. The factors multiply: 0.9 to the power 20."),
        wrong("About 35 %", "That is 0.9 to the power 10. Twenty layers square it."),
        right("About 12 %", "0.9 to the power 20 is 0.12. After 50 layers half a percent is left."),
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
        "A network with BatchNorm is right on 128 points at once and wrong on the same points one by one. Why?",
        wrong(
            "It has overfitted to batches of 128",
            "The same points are judged with the same weights. Only their company differs.",
        ),
        wrong(
            "Its running statistics were never updated",
            "Then it would be wrong in either case, and the number of points would not matter.",
        ),
        right(
            "In evaluation it still uses the statistics of the batch",
            "A point alone is its own mean, so every BatchNorm gives β. Use the running statistics.",
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
        "When do RMSNorm and LayerNorm (β = 0, the same γ) give the same output?",
        right(
            "When the mean of the features is 0",
            "Then the mean square is the variance. LayerNorm of x is RMSNorm of x minus its mean.",
        ),
        wrong(
            "When the spread of the features is 1",
            "With a mean other than 0 the mean square is 1 plus its square, and LayerNorm removes the mean besides.",
        ),
        wrong(
            "Always: RMSNorm is only faster",
            "RMSNorm keeps the mean. For x = 1000 + noise the outputs are far apart.",
        ),
    ),
    "pre_post": Question(
        "Which of these is a pre-norm block?",
        wrong(
            "norm(x + f(x))", "That is post-norm: what goes on is normalized, and there is no untouched path."
        ),
        wrong(
            "f(norm(x) + x)",
            "Here the skip is inside the branch: f is between input and output, nothing passes by.",
        ),
        right("x + f(norm(x))", "Only the branch gets normalized values; the stream itself is not touched."),
        wrong(
            "norm(x) + f(norm(x))",
            "A common slip: the stream is replaced by its normalized version at each block.",
        ),
    ),
    "final_norm": Question(
        "Why does a pre-norm stack end with one more norm?",
        wrong(
            "Because the last block has no norm of its own",
            "Each block has one, in front of its branch. What leaves the block is the stream, unnormalized.",
        ),
        right(
            "Because the stream has grown from block to block",
            "About like √(1 + l) at initialization. Without the last norm the scores grow with depth.",
        ),
        wrong(
            "To make the output probabilities",
            "That is the softmax. The norm only sets the scale of what the last matrix is given.",
        ),
    ),
    "zero_init": Question(
        "A branch is relu(x W₁) W₂ and shall give 0 at first. How is that done so that it can learn?",
        wrong(
            "Both matrices are 0",
            "Each one’s gradient holds the other as a factor, so both gradients are 0 and stay so.",
        ),
        wrong(
            "A learning rate of 0 for the first steps",
            "Then nothing learns during these steps, and the branch does not give 0.",
        ),
        right(
            "W₂ is 0, W₁ random",
            "The product is 0, but the gradient of W₂ is not. After one step W₁ gets one too. ReZero does it with α.",
        ),
    ),
    "clip": Question(
        "Two gradients have lengths 3 and 4. `clip_by_global_norm` with `max_norm=1`: what are their lengths then?",
        wrong(
            "1 and 1, each cut by itself",
            "That clips each by itself, and turns the step away from the gradient’s direction.",
        ),
        right(
            "0.6 and 0.8",
            "Together they have length 5, so both are multiplied by 1/5. The direction is kept.",
        ),
        wrong("0.75 and 1", "That divides by the longest one. Together they would still have length 1.25."),
        wrong("3/7 and 4/7", "Lengths do not add up; squares do: √(3² + 4²) is 5."),
    ),
    "falling_loss": Question(
        "The training loss falls. What does that prove about your backward pass?",
        wrong(
            "That it is right: a wrong gradient would not lead downhill",
            "Many wrong ones do. A backward pass without its mean or variance term trains all the same.",
        ),
        wrong(
            "That it is right for the last layers at least",
            "Not even that: any direction with a part along the right one goes downhill for small steps.",
        ),
        right(
            "Next to nothing: compare it with measured slopes",
            "Finite differences, weighed with random numbers, find what a falling loss hides.",
        ),
    ),
}
