"""Mistakes in layer_norm, rms_norm and rms_norm_offset."""

AXES = """
axis_batch: axis = first
    each row should be normalized by itself, but yours depends on the other rows: you averaged over axis 0,
    the batch. Use `axis=-1`, the features.
axis_all: axis = all
    one {statistic} is taken over the whole array, so that row 0 changes when row 1 does: the axis was left
    at its default. Use `axis=-1, keepdims=True`.
axis_tokens_too: axis = all but first
    for an input with three axes you normalize over tokens and features together, so that one token changes
    another. Use the last axis only: `axis=-1`.
axis_1: axis = second
    for an input with three axes you normalize over axis 1, the tokens (with two axes, axis 1 happens to be
    the last). Use `axis=-1`, the features.
axis_1: axis = last but one
    you average over `axis=-2`, the rows (or tokens), so that one changes another. Use `axis=-1`, the features.
axis_batch: axis = all but last
    each row should be normalized by itself, but yours depends on the other rows: you averaged over the
    batch and the tokens, as BatchNorm does. Use `axis=-1`, the features.
"""

SPREAD_AXES = """
axis_of_spread: spread_axis = first
    the {spread} is taken over axis 0, the batch, so that a row depends on the other rows. Use `axis=-1`
    there too.
axis_of_spread: spread_axis = all
    the {spread} is taken over the whole array, so that a row depends on the other rows. Use `axis=-1` there
    too.
axis_of_spread: spread_axis = all but last
    the {spread} is taken over everything but the features, so that a row depends on the others. Use
    `axis=-1`.
axis_of_spread: spread_axis = all but first
    with three axes the {spread} is taken over tokens and features together. Use `axis=-1` there too.
axis_of_spread: spread_axis = second
    with three axes the {spread} is taken over axis 1, the tokens. Use `axis=-1` there too.
"""

MEAN_AXES = """
axis_of_mean: mean_axis = first
    the mean is taken over axis 0, the batch, so that a row depends on the other rows. Use `axis=-1` there
    too.
axis_of_mean: mean_axis = all
    the mean is taken over the whole array, so that a row depends on the other rows. Use `axis=-1` there
    too.
axis_of_mean: mean_axis = all but last
    the mean is taken over everything but the features, so that a row depends on the others. Use `axis=-1`.
axis_of_mean: mean_axis = all but first
    with three axes the mean is taken over tokens and features together. Use `axis=-1` there too.
axis_of_mean: mean_axis = second
    with three axes the mean is taken over axis 1, the tokens. Use `axis=-1` there too.
keepdims_missing: keepdims = mean dropped
    `keepdims=True` is missing at the mean, so that row means line up with columns: it fails unless the
    input is square, and is wrong then. Use `x.mean(axis=-1, keepdims=True)`.
keepdims_missing: keepdims = mean dropped, used
    `keepdims=True` is missing at the mean, so that row means line up with columns: it fails unless the
    input is square, and is wrong then. Use `x.mean(axis=-1, keepdims=True)`.
"""

ROWS = """
padding_counted: lanes = not counted
    the sums are divided by a padded length, the next power of two (4 for 3 features, 8 for 6); the padding
    does not count: divide by d.
keepdims_missing: keepdims = none
    `keepdims=True` is missing, so that the statistics of rows line up with columns: it fails unless the
    input is square, and is wrong then. Use `axis=-1, keepdims=True`.
keepdims_missing: keepdims = var dropped
    `keepdims=True` is missing at the {spread}, so that those of rows line up with columns: it fails unless
    the input is square, and is wrong then. Use `axis=-1, keepdims=True`.
normalized_twice: times = twice
    the rows are normalized twice; it shows only where eps matters, in a nearly constant row or at eps =
    0.5. Once is enough.
normalized_twice: times = twice, affine too
    the whole layer is applied twice, its own output normalized and scaled again. Once is enough.
gamma_before_norm: times = gamma first
    gamma is multiplied in before the normalization, which mostly takes it out again. Normalize first:
    `{affine}`.
part_of_row: instead = first half
    the statistics see only part of the row, its first half (as a partial norm has it). Use all features: `axis=-1`.
part_of_row: instead = all but last
    the statistics see only part of the row, all but the last feature: the loop or the slice ends one too early. Use
    all of it: `axis=-1`.
part_of_row: instead = all but first
    the statistics see only part of the row, all but the first feature: the loop or the slice starts one too late.
    Use all of it: `axis=-1`.
groups: instead = two groups
    each half of a row is normalized by itself, as in GroupNorm or a norm for each head. Use the whole row: `axis=-1`.
eps_clamp: eps_place = clamped length
    eps is used as a lower limit of the length, max(norm, eps), as in normalizing to unit length: you clamp instead of
    adding eps inside the root. Divide by `np.sqrt({v} + eps)`.
root_n_too_many: division = root of n
    the result is multiplied by sqrt(d) on top of the division: that belongs to dividing by the length (the L2 norm),
    not by {root}. Leave it out.
activation_after: output = relu
    a ReLU follows the norm; return `{affine}` as it is.
activation_after: output = tanh
    a tanh follows the norm; return `{affine}` as it is.
residual_inside: affine = x added
    x is added to the normalized values before the scaling: that is the shortcut of a residual block, not part of the
    norm. Return `{affine}`.
wrong_count: instead = 3 counted
    the sums are divided by 3, which is right for d = 3 only. Divide by the number of features, `x.shape[-1]`.
wrong_count: instead = 4 counted
    the sums are divided by 4, which is right for d = 4 only. Divide by the number of features, `x.shape[-1]`.
wrong_count: instead = 6 counted
    the sums are divided by 6, which is right for d = 6 only. Divide by the number of features, `x.shape[-1]`.
gamma_by_row: affine = by row
    row i is scaled by gamma[i], one number for the whole row. gamma has one number for each {feature}: multiply the row by
    all of it, `{affine}`.
gamma_by_row: affine = by token
    with three axes token j is scaled by gamma[j], one number for the whole token. gamma has one number for each {feature}:
    multiply the token by all of it, `{affine}`.
residual_inside: output = residual
    x is added to the result: that is the shortcut of a residual block, not part of the norm. Return
    `{affine}`.
first_row_only: output = first only
    only the first row is normalized, the others are left as they were. Is there a `return` inside the loop,
    or an index 0 for the row?
first_row_only: output = first only, zeros
    only the first row is filled in, the others stay 0. Is there a `return` inside the loop?
first_row_only: output = one step
    only the first row comes back: there is a `return` inside the loop, or an index 0.
last_row_missing: output = last missing
    the last row stays 0: the loop ends one too early.
last_row_missing: output = last missing, flat
    the last row of all stays 0: the loop ends one too early.
first_row_missing: output = first missing
    the first row stays 0: the loop starts one too late, at 1. It begins at 0.
first_row_missing: output = first missing, flat
    the first row of all stays 0: the loop starts one too late, at 1. It begins at 0.
first_row_missing: output = first unchanged
    the first row is left as it was: the loop starts one too late, at 1. It begins at 0.
last_row_missing: output = last unchanged
    the last row is left as it was: the loop ends one too early.
"""

EPS_ELSEWHERE = """
tiny_is_zero: eps_place = zeros where tiny
    a {group} whose {v} is tiny is not normalized, it comes out as 0 before the shift. There is no special
    case: eps keeps the division from 0/0. Always `np.sqrt({v} + eps)`.
eps_in_numerator: eps_place = numerator
    eps is added to the numerator, where it keeps nothing from dividing by 0. Add it inside the root: `np.sqrt({v} +
    eps)`.
eps_in_numerator: eps_place = numerator too
    eps is added to the numerator as well, and shifts every number. Add it inside the root only: `np.sqrt({v} + eps)`.
eps_in_numerator: eps_place = result
    eps is added to the quotient, after the division. Add it inside the root: `np.sqrt({v} + eps)`.
"""

CENTRED_ROWS = """
tiny_is_zero: output = zeros where tiny
    a row whose std is tiny comes out as 0. There is no special case: eps keeps the division from 0/0, and such a
    row is normalized and shifted by beta like any other.
mean_not_divided: division = without the mean
    only x is divided by the root, x / std - mean: brackets are missing. Use (x - mean) / np.sqrt(var + eps).
only_mean_divided: division = of the mean
    only the mean is divided by the root, x - mean / std: brackets are missing. Use (x - mean) / np.sqrt(var + eps).
wrong_count: instead = rows counted
    mean and variance are both divided by the number of rows (`x.shape[0]`). Divide by the number of features, d:
    `axis=-1`, or `x.shape[-1]`.
wrong_count: instead = second counted
    with three axes mean and variance are divided by x.shape[1], the number of tokens. Divide by the number of features,
    `x.shape[-1]`.
wrong_count: instead = entries counted
    mean and variance are divided by the number of all entries (`x.size`). Divide by the number of features, d: `axis=-1`,
    or `x.shape[-1]`.
wrong_count: instead = one less
    the sums are divided by d - 1, also for the mean. Divide by d: `x.mean(axis=-1, keepdims=True)`.
min_max: instead = min-max
    each row is rescaled from its minimum to its maximum (min-max scaling). Subtract the mean and divide by the standard
    deviation.
min_max: instead = min-max, no eps
    each row is rescaled from its minimum to its maximum (min-max scaling). Subtract the mean and divide by the standard
    deviation, with eps.
softmax: instead = softmax
    each row goes through a softmax. Subtract the mean and divide by the standard deviation.
"""

# Formulas with brackets in other places; root is np.sqrt(var + eps).
BRACKETS = """
brackets_missing: formula = gamma * x - mean / root + beta
    brackets are missing: gamma * x - mean / np.sqrt(var + eps) divides the mean alone. Subtract first: gamma * (x - mean) /
    np.sqrt(var + eps) + beta.
brackets_missing: formula = x - mean / root * gamma + beta
    brackets are missing: x - mean / np.sqrt(var + eps) * gamma divides and scales the mean alone. Subtract first: (x - mean)
    / np.sqrt(var + eps) * gamma + beta.
beta_divided: formula = (gamma * (x - mean) + beta) / root
    beta is divided by the root as well: it stands inside the brackets. Add it after the division: gamma * (x - mean) /
    np.sqrt(var + eps) + beta.
beta_in_denominator: formula = gamma * (x - mean) / (root + beta)
    beta is added to the root, in the denominator: brackets are too many. Add it after the division: gamma * (x - mean) /
    np.sqrt(var + eps) + beta.
eps_in_numerator: formula = gamma * (x - mean) / np.sqrt(root**2 - eps) + eps + beta
    eps is added after the division, outside the brackets of the root: np.sqrt(var) + eps + beta. Add it inside the root:
    `np.sqrt(var + eps)`.
eps_in_numerator: formula = (x - mean) / np.sqrt(root**2 - eps) + eps * gamma + beta
    eps is added after the division, outside the brackets of the root, and multiplied by gamma. Add it inside the root:
    `np.sqrt(var + eps)`.
"""

# The same without a mean; root is np.sqrt(mean(x**2) + eps).
SQUARE_BRACKETS = """
eps_in_numerator: formula = x / np.sqrt(root**2 - eps) + eps * gamma
    eps is added after the division, outside the brackets of the root, and gamma multiplies it alone. Add it inside the
    root, and scale the quotient: x / np.sqrt(mean(x**2) + eps) * gamma.
squared_numerator: formula = x**2 / root * gamma
    the numerator is squared, x**2; it is x itself: x / np.sqrt(mean(x**2) + eps) * gamma.
"""

AFFINE_FIRST = """
padding_counted: lanes = counted
    zeros that pad the row to a power of two (3 to 4, 6 to 8) count as features, in mean and variance. Leave
    the padding out.
affine_before_norm: times = affine first
    gamma and beta are applied to x, and the result is normalized: that takes them out again. Normalize
    first: `{affine}`.
"""

MEAN_SQUARE = """
variance_not_mean_square: spread = var
    you divide by the root of the variance, and var subtracts the mean. RMSNorm uses the mean
    square: `np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)`.
variance_not_mean_square: spread = ddof
    you divide by the root of the variance with ddof=1, and var subtracts the mean. Use the mean square,
    mean(x**2).
sum_instead_of_mean: spread = square sum
    the squares are summed, not averaged: you divide by the length (the L2 norm) of the row, not by the RMS,
    so that everything comes out smaller by the factor 1/sqrt(d). Use mean(x**2).
ddof_1: spread = square ddof
    the sum of squares is divided by d - 1 (ddof=1); everything comes out smaller by the factor sqrt((d -
    1)/d). Divide by d: mean(x**2).
wrong_count: spread = square others
    the sum of squares is divided by the number of rows. Divide by the number of features, d: mean(x**2).
averaged_twice: spread = square divided twice
    the mean square is divided by d once more. Once: mean(x**2).
square_after_mean: spread = mean square
    you average first and square then: (mean(x))**2. Square first: mean(x**2), so that signs cannot cancel.
eps_sign: eps_place = subtracted from
    the wrong way round, eps - {v} is negative, and its root NaN. Add: `np.sqrt({v} + eps)`.
eps_in_numerator: eps_place = x
    eps is added to x before the square: mean((x + eps)**2). Add it after the mean, inside the root: mean(x**2) + eps.
mean_absolute: spread = absolute
    you divide by the mean absolute value, mean(|x|). Use the root of mean(x**2).
mean_absolute: spread = absolute, as square
    you put mean(|x|) under the root; the squares are missing. Use mean(x**2).
mean_absolute: spread = absolute sum
    you divide by the sum of |x| (L1 norm). Use the root of mean(x**2).
maximum: spread = maximum
    you divide by the largest absolute value. Use the root of mean(x**2).
not_squared: spread = mean only
    the square is missing under the root: mean(x). Use mean(x**2).
not_squared: spread = sum only
    the square is missing under the root, and a sum stands where the mean belongs: sum(x). Use mean(x**2).
not_squared: spread = doubled
    x * 2 stands where x**2 belongs. Use mean(x**2).
wrong_power: spread = cube
    x**3 stands where x**2 belongs. Use mean(x**2).
mean_missing: spread = own square of x
    the squares are not averaged, so that each number is divided by its own size. Use mean(x**2).
scale_inverted: spread = square times n
    the factor sqrt(d) is on the wrong side: you divide by the L2 norm times sqrt(d). The RMS is the norm
    divided by sqrt(d): mean(x**2).
gamma_missing: affine = none
    gamma is never applied: the result does not change with it. Return `{affine}`.
gamma_as_beta: affine = gamma twice
    gamma is added at the end; nothing is added here. Return `{affine}`.
sign_lost: centre = absolute
    the absolute value of x is divided, so that all signs are lost; the numerator is x itself.
mean_subtracted: centre = mean
    the mean is subtracted in the numerator; RMSNorm leaves it in. Use x / sqrt(mean(x**2) + eps).
"""

OFFSETS = """
offset_missing: offset = w
    the gain is used as it is stored, x_hat * w: the 1 + is missing, so that w = 0 gives 0. Use x_hat * (1 +
    w).
offset_sign: offset = 1 - w
    the gain is 1 - w; it is 1 + w.
offset_sign: offset = w - 1
    the gain is w - 1; it is 1 + w.
gamma_exp: offset = exp
    the gain is exp(w), which is near 1 + w only for small w. Use x_hat * (1 + w).
gamma_exp: offset = softplus
    the gain is softplus(w); it is 1 + w.
offset_outside: offset = (1 + h) * w
    the 1 is added to the normalized values, (1 + x_hat) * w; it belongs to the gain. Use x_hat * (1 + w).
gamma_missing: offset = none
    w is never applied. Use x_hat * (1 + w).
offset_twice: offset = twice
    the 1 is added twice: the gain is 2 + w. Use x_hat * (1 + w).
gamma_abs: offset = abs
    the gain is |1 + w|, so that its sign is lost where w is below -1. Use x_hat * (1 + w).
gamma_abs: offset = 1 + np.abs(w)
    the gain is 1 + |w|, so that the sign of w is lost. Use x_hat * (1 + w).
gamma_divides: offset = inverse
    you divide by 1 + w; multiply: x_hat * (1 + w).
gamma_squared: offset = square
    the gain is applied twice. Once: x_hat * (1 + w).
gamma_added: offset = added
    1 + w is added; multiply: x_hat * (1 + w).
offset_outside: offset = w * h + 1
    the 1 is added to the result, x_hat * w + 1; it belongs to the gain. Use x_hat * (1 + w).
gamma_added: offset = h + w
    w is added, x_hat + w; the gain multiplies: x_hat * (1 + w).
offset_of_x: offset = x + h * w
    you add x itself, x + x_hat * w; the 1 multiplies the normalized values. Use x_hat * (1 + w).
"""
