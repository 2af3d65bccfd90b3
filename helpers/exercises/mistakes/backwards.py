"""Mistakes in the gradients of the norms."""

DX = """
var_term_missing: var = missing
    {v_term} is missing from dx{or_0}: {v_why}. {step_var}
treated_as_constant: whole = scaled dy
    dx is just dy * rstd: the {statistics}, and gamma is forgotten. {step_all}
gamma_missing: g = dy
    gamma is forgotten in dx: dy is used where g = dy * gamma belongs. {step_g}
gamma_after_means: g = late
    gamma is multiplied in at the end; it must be inside the means: g = dy * gamma first. {step_g}
gamma_squared: g = twice
    gamma is multiplied in twice: g = dy * gamma. {step_g}
gamma_abs: g = absolute
    dy is multiplied by |gamma|, so that its sign is lost where gamma is below 0: g = dy * gamma. {step_g}
gamma_divides: g = divided
    dy is divided by gamma; it is multiplied: g = dy * gamma. {step_g}
var_term_sign: var_sign = sign
    the sign of x_hat * mean(g * x_hat) is wrong: it is subtracted. {step_var}
var_term_summed: var_count = summed
    in the variance term the sum stands where the mean belongs: x_hat * mean(g * x_hat). {step_var}
var_term_factor: var_count = averaged twice
    the variance term is divided by n twice; once is right. {step_var}
var_term_factor: var = twice
    the variance term is twice too large: was a factor 1/2 (from the square root) lost? {step_var}
var_term_factor: var = half
    the variance term is half of what it should be: was a factor 2 (from the square) lost? {step_var}
var_term_factor: var = half summed
    the variance term is n/2 times too large: was the 2/n of d var/dx lost? {step_var}
var_term_factor: var_count = unbiased
    the variance term is divided by n - 1; the variance here is the biased one, divided by n. {step_var}
var_term_x: var_inner = g * x
    x stands inside the mean where x_hat belongs: mean(g * x_hat). {step_var}
var_term_x: var_inner = g * centred
    a factor rstd is missing in {v_term}: rstd**2 where rstd**3 belongs, or x - mean where x_hat does. {step_var}
var_term_x: var_outer = x
    x stands before the mean where x_hat belongs: x_hat * mean(g * x_hat). {step_var}
var_term_x: var_outer = centred
    a factor rstd is missing in {v_term}: rstd**2 where rstd**3 belongs, or x - mean where x_hat does. {step_var}
var_term_x_hat_missing: var_inner = g
    x_hat is missing inside the mean: mean(g * x_hat). {step_var}
var_term_x_hat_missing: var_outer = one
    x_hat is missing before the mean: x_hat * mean(g * x_hat). {step_var}
var_term_x_hat_missing: var_outer = g
    g stands before the mean where x_hat belongs. {step_var}
var_term_x_hat_squared: var_outer = squared
    x_hat is squared before the mean; once is right. {step_var}
gamma_missing_in_var_term: var_inner = dy * x_hat
    gamma is forgotten in the variance term: mean(g * x_hat) with g = dy * gamma. {step_var}
gamma_missing_in_var_term: var_inner = dy * x
    dy * x stands inside the mean; it is g * x_hat. {step_var}
gamma_squared: var_inner = g * gamma
    gamma comes twice into the variance term. {step_var}
rstd_power: var_power = 1
    the variance term has one factor rstd too many. {step_var}
rstd_power: var_power = 2
    the variance term has rstd**2 too many (rstd**5 for rstd**3). {step_var}
rstd_power: var_power = -6
    (var + eps)**1.5 stands in {v_term} where (var + eps)**-1.5 belongs: the sign of the power is wrong. {step_var}
rstd_power: var_power = -2
    rstd**2 is missing in the variance term: the derivative of (var + eps)**-0.5 is -0.5 * (var + eps)**-1.5.
    {step_var}
rstd_missing: outer = none
    dx is not scaled: the factor rstd = 1/sqrt({v} + eps) is missing. {step_r}
rstd_missing: outer = not the direct term
    the direct term g is not multiplied by rstd; the others are. {step_r}
rstd_squared: outer = squared
    the factor rstd is applied twice to dx; once is right. {step_r}
rstd_squared: outer = cubed
    the factor rstd is applied three times to dx; once is right. {step_r}
rstd_inverted: outer = divided
    dx is multiplied by the std where it must be divided: rstd = 1/std. {step_r}
rstd_inverted: outer = variance
    dx is multiplied by the variance; it is multiplied by rstd. {step_r}
n_factor: outer = over n
    dx is n times too small: divide by n only inside the means. {step_r}
n_factor: outer = times n
    dx is n times too large: n * g - sum(g) - x_hat * sum(g * x_hat) must still be divided by n. {step_r}
n_factor: direct = averaged twice
    g itself is divided by n (the sums need it, g does not), or n * g was meant. {step_r}
n_factor: direct = summed
    g itself is multiplied by n, while the other terms are means. {step_r}
direct_term_missing: direct = missing
    the direct term g is missing from dx. {step_r}
direct_term_sign: direct = sign
    the sign of the direct term g is wrong. {step_r}
not_propagated: whole = dy
    dx is dy, passed on as it came: the norm has a gradient of its own. {step_all}
not_propagated: whole = g
    dx is just dy * gamma: the norm has a gradient of its own. {step_all}
dx_zero: whole = zero
    dx is zero everywhere. {step_all}
dx_sign: whole = sign
    dx has the wrong sign. {step_all}
dx_averaged: whole = averaged
    dx is divided by the number of rows; each row keeps its own gradient. {step_all}
dx_averaged: whole = averaged over the first axis
    dx is divided by the batch size; each row keeps its own gradient. {step_all}
dx_factor: whole = twice
    dx is twice too large. {step_all}
dx_factor: whole = half
    dx is half of what it should be. {step_all}
gamma_divides: whole = over gamma
    dx is divided by gamma at the end; gamma comes in once, in g = dy * gamma. {step_g}
residual_inside: whole = residual
    dy is added to dx: that belongs to a residual block's shortcut. {step_all}
output_returned: whole = output
    dx is x_hat * gamma, which belongs to the forward pass: the gradient is made from dy. {step_all}
last_row_missing: whole = last row missing
    the last row of dx stays 0: the loop ends one too early.
affine_wrong_axis: g = turned
    gamma lies along the wrong axis, which only a square input lets pass: g = dy * gamma, without a new axis. {step_g}
x_hat_scaled: x_hat = scaled
    x_hat has gamma in it: it is the normalized x before the scaling, {x_hat}.
dx_x_hat: whole = x_hat
    dx is x_hat: the gradient does not depend on dy. {step_all}
eps_ignored: eps_value = 1e-12
    the argument eps is ignored: 1e-12 is used whatever eps is. Use rstd = 1/sqrt({v} + eps).
eps_ignored: eps_value = 1e-8
    the argument eps is ignored: 1e-8 is used whatever eps is. Use rstd = 1/sqrt({v} + eps).
eps_ignored: eps_value = 1e-6
    the argument eps is ignored: 1e-6 is used whatever eps is. Use rstd = 1/sqrt({v} + eps).
eps_ignored: eps_value = 1e-5
    the argument eps is ignored: 1e-5 is used whatever eps is. Use rstd = 1/sqrt({v} + eps).
eps_ignored: eps_value = 1e-3
    the argument eps is ignored: 1e-3 is used whatever eps is. Use rstd = 1/sqrt({v} + eps).
eps_missing: rstd = no eps
    eps is missing in rstd = 1/sqrt({v} + eps).
eps_outside: rstd = eps outside
    eps is outside the root: rstd = 1/sqrt({v} + eps).
ddof_1: rstd = unbiased
    rstd uses n - 1 (ddof=1); the forward divides by n: rstd = 1/sqrt({v} + eps).
sum_instead_of_mean: rstd = summed
    rstd uses the sum of the squares, not their mean: 1/sqrt({v} + eps).
rstd_inverted: rstd = not inverted
    the std stands where its inverse belongs: rstd = 1/sqrt({v} + eps).
root_missing: rstd = variance
    the root is missing: rstd = 1/sqrt({v} + eps), not 1/({v} + eps).
sum_instead_of_mean: rstd = length, eps outside
    the length (what np.linalg.norm gives) stands where the std belongs: it sums the squares and does not average them,
    and eps stands outside the root. Take rstd = 1/sqrt({v} + eps).
root_missing: rstd = variance kept
    the variance stands where rstd = 1/sqrt({v} + eps) belongs.
rstd_taken_for_variance: rstd = twice
    the inverse std is used as if it were the variance, so that the root is taken twice: 1/sqrt(rstd + eps).
    Take rstd = 1/sqrt({v} + eps) once.
root_twice: rstd = root twice
    the root is taken twice: rstd = 1/sqrt({v} + eps).
root_twice: rstd = root twice, std
    the root is taken twice (std is a root already): rstd = 1/sqrt({v} + eps).
rstd_missing: rstd = one
    rstd is missing everywhere: {x_hat}, and dx too is scaled by it.
x_for_x_hat: x_hat = x
    x is used where x_hat belongs, everywhere.
x_for_x_hat: x_hat = centred
    x_hat is not divided by the std: x - mean is used where x_hat belongs.
axis_all: stats_axis = all
    {stats} over the whole batch, so that one {one} changes another: use `{axis}, keepdims=True` there.
axis_wrong: stats_axis = other
    {stats} over the wrong axis: use `{axis}, keepdims=True` there.
axis_all: axis = all
    all means run over the whole batch, so that one {one} changes another: use `{axis}, keepdims=True`.
axis_wrong: axis = other
    all means run over the wrong axis: use `{axis}, keepdims=True`.
axis_all: sums_axis = all
    mean(g) and mean(g * x_hat) run over the whole batch instead of one {one}, so that one {one} changes
    another: use `{axis}, keepdims=True`.
axis_all: sums_axis = all summed
    the sums of g and g * x_hat run over the whole batch, all {one}s together, so that one {one} changes
    another: the axis (and keepdims) is missing. Use `{axis}, keepdims=True`.
axis_wrong: sums_axis = other
    mean(g) and mean(g * x_hat) run over the wrong axis: use `{axis}, keepdims=True`.
wrong_count: sums_axis = other count
    the sums of g and g * x_hat are divided by the wrong length of x: each mean is over one {one}. Use `{axis}`, or
    divide by the length of that axis.
wrong_count: sums_axis = second count
    with three axes the sums of g and g * x_hat are divided by x.shape[1]; each mean is over one {one}. Use `{axis}`.
wrong_count: sums_axis = entries
    the sums of g and g * x_hat are divided by the number of all entries, x.size; each mean is over one {one}. Use `{axis}`.
wrong_count: var_axis = other count
    in {v_term} the sum is divided by the wrong length of x: it is a mean over one {one}. Use `{axis}`, or divide by the
    length of that axis. {step_var}
sum_missing: var_axis = not summed
    the sum is missing in {v_term}: each entry sees only its own g * x_hat. Sum over the {one}, with `{axis}, keepdims=True`.
    {step_var}
keepdims_missing: sums_axis = flat
    `keepdims=True` is missing at mean(g) and mean(g * x_hat), so that they line up with the wrong axis: use
    `{axis}, keepdims=True`.
axis_all: var_axis = all summed
    sum(g * x_hat) runs over the whole batch: use `{axis}, keepdims=True`.
mean_missing: var_axis = not averaged
    the mean is missing in the variance term, x_hat * g * x_hat: it is x_hat * mean(g * x_hat), one mean for each {one}.
keepdims_missing: var_axis = flat
    `keepdims=True` is missing at mean(g * x_hat): use `{axis}, keepdims=True`.
axis_all: var_axis = all
    mean(g * x_hat) runs over the whole batch: use `{axis}, keepdims=True`.
axis_wrong: var_axis = other
    mean(g * x_hat) runs over the wrong axis: use `{axis}, keepdims=True`.
"""

THROUGH_MEAN = """
mean_term_missing: mean = missing
    the mean term is missing from dx{or_0}: the mean depends on x too. {step_mean}
mean_term_sign: mean_sign = sign
    the sign of mean(g) is wrong: it is subtracted. {step_mean}
mean_term_summed: mean = summed
    the sum of g stands where its mean belongs: a 1/n is missing. {step_mean}
mean_term_factor: mean = averaged twice
    mean(g) is divided by n twice. {step_mean}
mean_term_factor: mean = twice
    mean(g) is subtracted twice. {step_mean}
mean_term_factor: mean = half
    only half of mean(g) is subtracted. {step_mean}
mean_term_factor: mean = unbiased
    mean(g) is divided by n - 1; divide by n. {step_mean}
gamma_missing_in_mean_term: mean_of = dy
    gamma is forgotten in the mean term: mean(g), g = dy * gamma. {step_mean}
axis_all: mean_axis = all summed
    sum(g) runs over the whole batch: use `{axis}, keepdims=True`.
keepdims_missing: mean_axis = flat
    `keepdims=True` is missing at mean(g): use `{axis}, keepdims=True`.
axis_all: mean_axis = all
    mean(g) runs over the whole batch: use `{axis}, keepdims=True`.
axis_wrong: mean_axis = other
    mean(g) runs over the wrong axis: use `{axis}, keepdims=True`.
rstd_missing: outer = direct only
    only the first term is multiplied by rstd: brackets are missing. {step_r}
var_term_x: var_inner = g * x * rstd
    x stands where x - mean belongs, in the sum of {v_term}: mean(g * x_hat), with {x_hat}. {step_var}
sums_for_means: sums_axis = summed
    sums stand where both means belong, mean(g) and mean(g * x_hat): the 1/n is missing. {step_all}
rstd_missing: outer = not the direct term, nor its mean
    the direct term g is not multiplied by rstd, nor is its mean. {step_r}
rstd_missing: outer = not the mean
    the mean term is not multiplied by rstd. {step_r}
x_not_centred: x_hat = not centred
    x_hat is not centred: {x_hat}.
spread_not_centred: rstd = not centred
    the variance in rstd is not centred: var = mean((x - mean)**2).
like_rms_norm: centred = False
    the mean is left out, in x_hat and in dx: that is RMSNorm's gradient. Take {x_hat}. {step_mean}
"""

ONLY_RMS = """
like_layer_norm: subtract_mean = True
    mean(g) is subtracted in dx: that is LayerNorm's gradient. RMSNorm has no mean. {step_all}
like_layer_norm: centred = True
    the mean is subtracted, in x_hat and in dx: that is LayerNorm's gradient. RMSNorm has no mean. {step_all}
variance_not_mean_square: rstd = variance, centred
    the variance stands under the root, which subtracts the mean; use the mean square: 1/sqrt(mean(x**2) +
    eps).
x_centred: x_hat = other centre
    the mean is subtracted in x_hat; RMSNorm has none: {x_hat}.
"""

ROWS_ONLY = """
axis_all: var_axis = dr over all
    dr sums over all rows; it is one number for each {one}: use `{axis}, keepdims=True` in step 2.
axis_batch: var_axis = dr over the batch
    dr sums over axis 0, the batch; it is one number for each {one}: use `{axis}, keepdims=True` in step 2.
n_factor: var_count = by eight
    step 4 divides by 8 whatever the number of features is: that is x.shape[-1].
axis_batch: stats_axis = first
    {stats} over axis 0, the batch, as in BatchNorm; each row has its own: use `{axis}, keepdims=True` there.
axis_batch: axis = first
    all means run over axis 0, the batch, as in BatchNorm's gradient; each row has its own: use `{axis},
    keepdims=True`.
axis_batch: sums_axis = first
    mean(g) and mean(g * x_hat) run over axis 0, the batch, as in BatchNorm's gradient: use `{axis}, keepdims=True`.
axis_tokens_too: axis = all but first
    for an input with three axes you normalize over tokens and features together (reshaped to two axes); the
    forward normalizes each token: use `{axis}, keepdims=True`.
"""

CHANNELS_ONLY = """
axis_all: var_axis = dr over all
    the sum in {v_term} (dvar) runs over everything; there is one for each {one}: use `{axis}`. {step_var}
axis_all: var_axis = dv over all
    the sum in {v_term} (dvar) runs over everything; there is one for each {one}: use `{axis}`. {step_var}
axis_all: mean_axis = dmu over all
    the sum in the mean term runs over everything; there is one for each {one}: use `{axis}`. {step_mean}
"""

# From here to PARAMETERS: what is tried alone, not in pairs.

DX_ALONE = """
rstd_power: var_power = -1.5
    in {v_term} the std has the power -1.5. The std is a root already: it is std**-3, or (var + eps)**-1.5. {step_var}
rstd_power: var_power = -3
    in {v_term} rstd**3 is missing: the derivative of (var + eps)**-0.5 is -0.5 * (var + eps)**-1.5. {step_var}
rstd_power: var_power = 3
    (var + eps)**-3 stands in {v_term} where (var + eps)**-1.5 belongs, which is std**-3. {step_var}
eps_missing: var_eps = under the power
    eps is missing in {v_term}, and only there: (var + eps)**-1.5, which is rstd**3. {step_var}
eps_missing: var_eps = under the quotient
    eps is missing in {v_term}, and only there: what is divided by var must be divided by var + eps. {step_var}
one_plus_gamma: g = one plus
    dy is multiplied by 1 + gamma; that belongs to gains that are stored around 0. Here g = dy * gamma. {step_g}
"""

CENTRED_ALONE = """
wrong_count: var_axis = second count
    with three axes the sum in {v_term} is divided by x.shape[1]; it is a mean over one {one}. {step_var}
wrong_count: var_axis = entries
    the sum in {v_term} is divided by the number of all entries, x.size; it is a mean over one {one}. {step_var}
axis_all: mean_axis = dc over all
    the mean that is subtracted at the end runs over everything; there is one for each {one}: use `{axis},
    keepdims=True`. {step_mean}
direct_term_x: outer = g times centred
    g * (x - mean) stands where g * rstd belongs. {step_r}
means_swapped: outer = swapped
    mean(g) and mean(g * x_hat) have changed places: mean(g) stands alone, and x_hat stands before mean(g *
    x_hat).{swapped}
"""

ROWS_ALONE = """
axis_batch: mean_axis = dc over the batch
    the mean that is subtracted at the end runs over axis 0, the batch; there is one for each {one}: use `{axis},
    keepdims=True`. {step_mean}
axis_all: mean_axis = dmu over all
    the sum in the mean term runs over everything; there is one for each {one}: use `{axis}, keepdims=True`. {step_mean}
axis_all: var_axis = dv over all
    the sum in dv runs over all rows; it is one number for each {one}: use `{axis}, keepdims=True`. {step_var}
"""

RMS_ALONE = """
product_of_means: var_axis = of each
    mean(g) * mean(x_hat) stands where mean(g * x_hat) belongs: the mean of a product is not the product of the means.
    {step_var}
product_of_means: var_axis = of each, summed
    the sums of g and of x are multiplied with each other: the sum of a product is not the product of the sums. Multiply
    first, then sum: sum(g * x). {step_var}
"""

CHANNELS_ALONE = """
rstd_missing: outer = only dy
    brackets are missing: gamma * rstd multiplies dy only. Write gamma * rstd * (dy - mean(dy) - x_hat * mean(dy * x_hat)).
rstd_missing: outer = only n * dy
    brackets are missing: gamma * rstd / n multiplies n * dy only, not the sums. Write gamma * rstd / n * (n * dy - sum(dy) -
    x_hat * sum(dy * x_hat)).
"""

DGAMMA_ALONE = """
dgamma_matrix: dgamma = matrix product{way}
    dgamma is a matrix product, which multiplies each feature of dy with every feature of x_hat. Only the diagonal
    belongs to dgamma. Multiply entry by entry, then sum over the {lead}: {sum_of}.
"""

DGAMMA_OF_ROWS_ALONE = """
dgamma_of_sums: dgamma = sums apart
    dgamma is sum(dy) * sum(x_hat), but the sum of a product is not the product of the sums. Multiply first, then sum:
    sum(dy * x_hat).
dgamma_x: dgamma = dy * rstd
    x is missing in dgamma, which is sum(dy * rstd): use sum(dy * x_hat), with {x_hat}.
"""

PARAMETERS_ALONE = """
params_overwritten: params = last of the first axis
    {both} made from the last entry of the first axis only: is `=` written in a loop where `+=` belongs? Add up all
    rows: {sums}.
"""

PARAMETERS = """
params_not_summed: params = not summed
    {both} not summed over the {lead}: they keep one row per example, but there is only one of each
    parameter. Add the rows up: {sums}.
params_averaged: params = mean
    {both} averaged over the {lead}, divided by the number of rows. A parameter that acts on every row
    collects the sum of their gradients: {sums}.
params_averaged: params = mean of first axis
    {both} divided by the batch size. A parameter collects the sum over all rows: {sums}.
params_averaged: params = mean of features
    {both} divided by the number of features. Use the sum: {sums}.
params_averaged: params = mean over the first axis
    {both} averaged over the first axis. A parameter collects the sum over all rows: {sums}.
params_overwritten: params = last row missing
    in {both_in} the last row of the batch is left out: the loop ends one too early. Use {sums}.
params_axis: params = other axis
    {both} summed over the wrong axis. Sum over the {lead}: {sums}.
params_one_axis: params = first axis only
    with three axes {both} summed over the first axis only. Sum over all axes but the last: {sums}.
params_keepdims: params = keepdims
    {both} left with extra axes of length 1: sum without keepdims: {sums}.
params_everything: params = everything
    {both} summed to a single number; sum over the {lead} only: {sums}.
params_overwritten: params = last row
    {both} overwritten by every row, and only the last is left. Add the rows up: {sums}.
params_overwritten: params = first row
    {both} taken from the first row only. Add the rows up: {sums}.
params_zero: params = zero
    {both} zero: was nothing added up, or something whose sum is always 0? Use {sums}.
"""

DGAMMA = """
dgamma_x: dgamma = x
    dgamma uses x where x_hat belongs: sum(dy * x_hat).
dgamma_x: dgamma = centred
    dgamma uses x - mean where x_hat belongs: sum(dy * x_hat).
dgamma_x: dgamma = not centred
    dgamma uses x * rstd, not centred, where x_hat belongs: sum(dy * x_hat).
dgamma_scaled: dgamma = scaled
    dgamma has one factor rstd too many; x_hat holds it already: sum(dy * x_hat).
dgamma_gamma: dgamma = g
    dgamma has gamma in it; it does not belong there: sum(dy * x_hat).
dgamma_gamma: dgamma = over gamma
    dgamma is divided by gamma: it is sum(dy * x_hat).
dgamma_is_dbeta: dgamma = dy
    dgamma is the sum of dy, as dbeta is; x_hat is missing: sum(dy * x_hat).
dgamma_dy_missing: dgamma = x_hat
    dgamma does not contain dy: it is sum(dy * x_hat).
dgamma_dx: dgamma = dx
    dgamma is made from dx; it is made from dy: sum(dy * x_hat).
dgamma_sign: dgamma = sign
    dgamma has the wrong sign: sum(dy * x_hat).
dgamma_factor: dgamma = twice
    dgamma is twice too large: sum(dy * x_hat).
dgamma_squared: dgamma = square
    dgamma sums squares: it is sum(dy * x_hat).
"""

DBETA = """
dbeta_x: dbeta = x
    dbeta is the sum of the input x; beta was added at the end, so it is sum(dy).
dbeta_gamma: dbeta = g
    dbeta has gamma in it; beta is added after the scaling, so it is sum(dy).
dbeta_x: dbeta = x_hat
    dbeta is the sum of x_hat; it is sum(dy).
dbeta_is_dgamma: dbeta = dy * x_hat
    dbeta is sum(dy * x_hat), as dgamma is; it is sum(dy).
dbeta_dx: dbeta = dx
    dbeta is the sum of dx; it is sum(dy).
dbeta_scaled: dbeta = scaled
    dbeta has a factor rstd; it is just sum(dy).
dbeta_dy_missing: dbeta = ones
    dbeta counts the rows and does not contain dy: it is sum(dy).
dbeta_sign: dbeta = sign
    dbeta has the wrong sign: sum(dy).
dbeta_factor: dbeta = twice
    dbeta is twice too large: sum(dy).
dbeta_squared: dbeta = square
    dbeta sums squares: it is sum(dy).
"""

# What the same mistakes are called in RMSNorm's steps: m, r, dr, dm, dx.
IN_RMS_NORM = {
    "x stands inside the mean where x_hat belongs: mean(g * x_hat).": "a factor r is missing: r**2 where r**3 belongs, x where x_hat does, or brackets around all that is multiplied by r.",
    "mean(g) and mean(g * x_hat) run": "the sum in dr runs",
    "the sums of g and g * x_hat run": "the sum in dr runs",
    "the sums of g and g * x_hat are": "the sum in dr is",
    "sum(g * x_hat) runs": "the sum in dr runs",
    "mean(g) and mean(g * x_hat), so that they line up": "the sum in dr, so that it lines up",
    "d var/dx": "dm/dx",
    "variance term": "mean-square term",
    "the inverse std": "r",
    "variance": "mean square",
    "rstd": "r",
    "std": "rms",
    "var": "m",
    "n": "d",
}
