"""Questions of `03_layer_norm`."""

import numpy as np

from .. import experiments
from ..figures import words
from ..layers import layer_norm
from .kinds import Choice, Number, Question, right, wrong

TITLE = "03 Layer normalization, step by step"
EXERCISES = ("layer_norm", "layer_norm_backward")


def normalized_std(spread, eps=1e-5):
    """Spread of the features after LayerNorm, when they had this spread before it."""
    x = spread * np.random.default_rng(0).standard_normal(64)
    x *= spread / x.std()
    return layer_norm(x, np.ones(64), np.zeros(64), eps).std()


PREDICTIONS = {
    "drift_sigma": Number(
        "spread after 30 layers, gain 1.5",
        "Each of 30 linear layers multiplies the spread of the values by about 1.5. It was 1 at the input. "
        "How large is it after the last layer?",
        lambda: experiments.activation_spread(30, gain=1.5, width=128).std[-1],
        lambda std: f"σ = {words(std)}",
        "Factors multiply: `1.5 ** 30` is 191,751, and one network of random weights differs a little from it. "
        "The first 15 layers make 438, the next 15 multiply by 438 again.",
        factor=3,
    ),
    "normalized_std": Choice(
        "LayerNorm of features with spread 0.001",
        "The features of a token have a spread of 0.001. LayerNorm with $ε = 10^{-5}$, γ = 1 and β = 0 normalizes them. "
        "What spread do they have then?",
        {
            "1: that is what LayerNorm is for": lambda std: std > 0.98,
            "Between 0.5 and 0.98": lambda std: 0.5 < std <= 0.98,
            "Between 0.1 and 0.5": lambda std: 0.1 < std <= 0.5,
            "Still about 0.001": lambda std: std <= 0.1,
        },
        lambda: normalized_std(1e-3),
        lambda std: f"σ = {words(std)}",
        "LayerNorm divides by √(σ² + ε). Here σ² is a tenth of ε, so ε decides. “The spread becomes 1” holds as long "
        "as σ² is much larger than ε.",
    ),
}

QUIZ = {
    "whose_numbers": Question(
        "A batch of sentences goes through a transformer. Which numbers share a mean in its LayerNorm?",
        wrong(
            "One feature, over the whole batch",
            "That is BatchNorm: there the other examples of the batch change your result.",
        ),
        wrong(
            "All tokens and all features of one sentence",
            "A common error. A token would then change with those around it, the later ones too. LayerNorm in a "
            "transformer takes the last axis only.",
        ),
        right(
            "The features of one token",
            "Each token is normalized by its own features alone. So nothing depends on the batch, on padding, or on "
            "other positions, and training and evaluation do the same.",
        ),
    ),
    "same_output": Question(
        "After LayerNorm, can a network tell $[1, 2, 3, 4]$ from $[4, 5, 6, 7]$?",
        wrong(
            "Yes: γ and β bring the difference back",
            "γ and β are the same for both inputs, and both arrive at them as the same numbers.",
        ),
        wrong(
            "Yes: only the mean is removed, and their spreads differ",
            "Their spreads are equal: the second is the first plus 3. Once the mean is gone nothing differs.",
        ),
        right(
            "No: both come out the same",
            "LayerNorm gives the same for x and a · x + b, for a > 0, as far as ε allows. If the difference "
            "matters, keep it on another path, such as the residual stream.",
        ),
    ),
    "gamma_beta": Question(
        "What are γ and β for?",
        right(
            "To let training choose the scale and the mean of each feature",
            "One γ and one β per feature, the same for all tokens, learned by gradient descent. They set a scale; "
            "they do not restore the one that each token had.",
        ),
        wrong(
            "To undo the normalization if the network needs the old values",
            "They would have to know each token's own mean and spread. They are the same for every token, so for "
            "LayerNorm they cannot.",
        ),
        wrong(
            "To keep the division from being 0 / 0",
            "That is ε, under the root. γ and β come after the division.",
        ),
        wrong(
            "To pull the output's mean to 0 and its spread to 1",
            "The two steps before do that. With γ = 2 and β = 0.5, mean and spread are no longer 0 and 1.",
        ),
    ),
    "gradient": Question(
        "A token's features become ten times larger; their spread is far above $√ε$. What becomes of the gradient that "
        "LayerNorm passes back to them?",
        wrong(
            "Nothing: the output is the same, so the gradient is the same",
            "The output is the same. But a step of one unit is now a tenth of what it was beside the features, and the "
            "output moves less.",
        ),
        right(
            "It becomes ten times smaller",
            "dx has the factor 1/√(σ² + ε). What does not change with the size of its input has a slope that "
            "shrinks as the input grows.",
        ),
        wrong(
            "It becomes ten times larger",
            "The other way round: a small input gets a large gradient, up to 1/√ε times.",
        ),
    ),
    "half_precision": Question(
        "$4096$ features with mean 0 and spread 10 go through a LayerNorm with γ = 1 and β = 0 whose every step is float16. What comes out?",
        right(
            "Zeros",
            "The squares add up to 409,600, and 65,504 is the largest float16 number. So the variance is infinite, "
            "and a number divided by infinity is 0.",
        ),
        wrong(
            "Features with spread 1, to three digits",
            "So it would be up to a spread of 4. Beyond it the sum of 4096 squares does not fit into float16.",
        ),
        wrong(
            "NaN",
            "An infinity does arise, in the variance. But a number divided by infinity is 0; NaN would need 0 / 0.",
        ),
    ),
    "biased": Question(
        "You normalize 4 features and check with `np.std(y, ddof=1)`. You get 1.15 instead of 1. What is wrong?",
        wrong(
            "The LayerNorm: it should divide by d − 1",
            "LayerNorm takes the variance of these d numbers and does not estimate one from a sample, so it "
            "divides by d. So do PyTorch, Keras and JAX.",
        ),
        right(
            "The check: ddof=1 divides by d − 1, LayerNorm by d",
            "The ratio is √(4/3) = 1.1547. `np.std(y)` divides by d and gives 1. `torch.std` divides by d − 1 "
            "unless told otherwise.",
        ),
        wrong(
            "ε: it pushes the spread above 1",
            "ε makes the divisor larger, so the spread comes out below 1, never above.",
        ),
    ),
}
