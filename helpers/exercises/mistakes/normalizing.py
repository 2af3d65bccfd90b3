"""Mistakes that layer_norm, rms_norm and batch_norm share."""

SHARED = """
eps_outside: eps_place = outside
    eps is added outside the square root: you divide by sqrt({v}) + eps. With eps = 0.5 the difference is
    plain to see. Add it inside: `np.sqrt({v} + eps)`.
eps_missing: eps_place = missing
    eps is missing: you divide by sqrt({v}), so that a {group} {flat} gives 0/0 and a large eps changes
    nothing. Divide by `np.sqrt({v} + eps)`.
divided_by_variance: eps_place = missing, no root
    both eps and the square root are missing: you divide by {v}. Divide by `np.sqrt({v} + eps)`.
eps_clamp: eps_place = clamped
    eps is used as a lower limit, max({v}, eps), instead of being added: you clamp. Divide by `np.sqrt({v} +
    eps)`.
eps_clamp: eps_place = clamped outside
    eps is used as a lower limit of the root, max(sqrt({v}), eps): you clamp instead of adding it inside the
    root. Divide by `np.sqrt({v} + eps)`.
eps_only_at_zero: eps_place = where
    eps is used only where {v} is exactly 0; it is always added: `np.sqrt({v} + eps)`.
eps_only_at_zero: eps_place = where below
    roots below eps are replaced by 1; eps is simply added, always: `np.sqrt({v} + eps)`.
eps_twice: eps_place = twice
    eps is added twice, inside the root and again outside. Once, inside: `np.sqrt({v} + eps)`.
eps_twice: eps_place = twice inside
    eps is added twice: you divide by sqrt({v} + 2 eps). Once: `np.sqrt({v} + eps)`.
eps_sign: eps_place = minus
    eps is subtracted, which makes the root of a small number NaN. Add it: `np.sqrt({v} + eps)`.
eps_squared: eps_place = squared
    eps is squared before it is added. Use it as it is: `np.sqrt({v} + eps)`.
eps_root_outside: eps_place = root
    you add two roots, sqrt({v}) + sqrt(eps); the root of a sum is another thing. Add first: `np.sqrt({v} +
    eps)`.
eps_root: eps_place = root inside
    sqrt(eps) is added inside the root. Use eps as it is: `np.sqrt({v} + eps)`.
eps_averaged: eps_place = averaged
    eps is divided by the number of values: it is added before the division by n. First the mean, then eps:
    `np.sqrt({v} + eps)`.
eps_summed: eps_place = summed
    eps is counted n times: it is added before the sum. Add it once, at the end: `np.sqrt({v} + eps)`.
root_before_division: eps_place = root over n
    you divide the root by n, sqrt(sum of squares) / n. The division belongs under the root, and eps behind it:
    `np.sqrt({v} + eps)`.
root_before_division: eps_place = root over n, outside
    you divide the root by n, sqrt(sum of squares) / n. The division belongs under the root, and eps behind it:
    `np.sqrt({v} + eps)`.
root_before_division: eps_place = root over n, missing
    you divide the root by n, sqrt(sum of squares) / n. The division belongs under the root, and eps behind it:
    `np.sqrt({v} + eps)`.
eps_is_one: eps_place = one
    1 is added where eps belongs: `np.sqrt({v} + eps)`.
eps_multiplied: eps_place = times
    eps is multiplied; it is added: `np.sqrt({v} + eps)`.
divided_by_variance: division = var
    the square root is missing: you divide by {v} + eps, {square}, so that a {group} ten times larger comes
    out ten times smaller. Divide by `np.sqrt({v} + eps)`.
squared_instead_of_root: division = var squared
    {v} + eps is squared instead of its root being taken (`**2` for `**0.5`). Divide by `np.sqrt({v} +
    eps)`.
wrong_power: division = cubed
    you divide by ({v} + eps)**1.5; the power is 0.5: `np.sqrt({v} + eps)`.
half_not_root: division = half of var
    you divide by ({v} + eps) / 2; was a root meant? Write `np.sqrt({v} + eps)`.
half_not_root: division = then halved
    `** 1/2` is not a root: powers come first, so that you divide by {v} + eps and then by 2. Write `** 0.5` or
    `np.sqrt({v} + eps)`.
root_twice: division = root of std
    the square root is taken twice, a root of a root. Once: `np.sqrt({v} + eps)`.
multiplied_instead_of_divided: division = multiplied
    you multiply by sqrt({v} + eps) (or divide by its inverse) instead of dividing by it: a {group} with
    large values comes out larger still. Divide: `/ np.sqrt({v} + eps)`.
multiplied_instead_of_divided: division = multiplied by var
    you multiply by {v} + eps instead of dividing by its root: `/ np.sqrt({v} + eps)`.
not_divided: division = none
    nothing is divided by {root}: a {group} ten times larger comes out ten times larger. Divide by
    `np.sqrt({v} + eps)`.
numerator_missing: division = only
    you return 1 / sqrt({v} + eps) without multiplying the input by it.
denominator_returned: division = itself
    x is missing: the denominator sqrt({v} + eps) itself is scaled. Divide by it.
subtracted_instead_of_divided: division = minus
    you subtract sqrt({v} + eps); divide by it.
gamma_scalar: affine = first gamma
    one number of gamma, its first, scales everything: it is used as a scalar. Each {feature} has its own:
    `{affine}`.
gamma_scalar: affine = last gamma
    one number of gamma, its last, scales everything: it is used as a scalar. Each {feature} has its own:
    `{affine}`.
gamma_scalar: affine = mean gamma
    gamma is averaged to a single number, a scalar; each {feature} has its own: `{affine}`.
gamma_scalar: affine = sum gamma
    gamma is summed to a single number, a scalar; each {feature} has its own: `{affine}`.
gamma_divides: affine = divided
    you divide by gamma; it multiplies: `{affine}`.
not_normalized: affine = raw
    gamma is applied to x itself, and the normalized values are thrown away: `{affine}`.
gamma_added: affine = gamma added
    gamma is added; it multiplies: `{affine}`.
gamma_squared: affine = gamma squared
    gamma is applied twice; once is enough: `{affine}`.
gamma_abs: affine = absolute gamma
    you scale by |gamma|, so that its sign is lost where gamma is below 0: `{affine}`.
gamma_exp: affine = exponent
    you scale by exp(gamma); gamma itself is the scale: `{affine}`.
gamma_exp: affine = softplus
    you scale by softplus(gamma); gamma itself is the scale: `{affine}`.
one_plus_gamma: affine = one plus
    you scale by 1 + gamma; that belongs to gains that are stored around 0. Here gamma itself is the scale:
    `{affine}`.
gamma_dotted: affine = matrix
    a sum (or `@`) makes a dot product with gamma; each {feature} is only scaled: `{affine}`.
gamma_dotted: affine = dotted
    a sum (or `np.dot`, `@`) makes a dot product with gamma; each {feature} is only scaled: `{affine}`.
gamma_plus_beta: affine = sum
    the normalized values are multiplied by gamma + beta: brackets are too many. gamma scales, beta shifts: `{affine}`.
affine_wrong_axis: affine = turned
    gamma lies along the wrong axis, which only a square input lets pass; it has one number for each
    {feature}: `{affine}`.
eps_ignored: eps_value = 1e-12
    the argument eps is ignored: 1e-12, too small, is used whatever eps is. Use eps.
eps_ignored: eps_value = 1e-08
    the argument eps is ignored: 1e-8 is used whatever eps is. Use eps.
eps_ignored: eps_value = 1e-06
    the argument eps is ignored: 1e-6 is used whatever eps is. Use eps.
eps_ignored: eps_value = 1e-05
    the argument eps is ignored: 1e-5 is used whatever eps is. Use eps.
eps_ignored: eps_value = 0.001
    the argument eps is ignored: 1e-3, too large, is used whatever eps is. Use eps.
first_statistics: whose = first
    the statistics of the first {sample} are used for all: each {group} needs its own.
last_statistics: whose = last
    the statistics of the last {sample} are used for all: each {group} needs its own.
"""

SHIFT = """
shift_before_scale: affine = shift first
    beta is added before the scaling, so that gamma multiplies it too: (x_hat + beta) * gamma. First scale,
    then shift: `{affine}`.
affine_missing: affine = none
    gamma and beta are never applied: you return the normalized values whatever gamma and beta are. Return
    `{affine}`.
beta_missing: affine = no beta
    beta is never added: the result does not change with it. Return `{affine}`.
gamma_missing: affine = no gamma
    gamma is never applied: the result does not change with it. Return `{affine}`.
gamma_beta_swapped: affine = swapped
    gamma and beta are swapped. gamma scales, beta shifts: `{affine}`.
beta_sign: affine = minus beta
    beta is subtracted; it is added: `{affine}`.
beta_abs: affine = absolute beta
    you shift by |beta|, so that its sign is lost where beta is below 0: `{affine}`.
beta_twice: affine = beta twice
    beta is added twice; once is enough: `{affine}`.
beta_scalar: affine = first beta
    only the first entry of beta is used, a scalar; each {feature} has its own: `{affine}`.
beta_scalar: affine = mean beta
    beta is averaged to one number, a scalar; each {feature} has its own: `{affine}`.
affine_scalar: affine = one scale
    only the first entries of gamma and beta are used, as scalars; each {feature} has its own: `{affine}`.
beta_multiplied: affine = product
    beta is multiplied; it is added: `{affine}`.
gamma_as_beta: affine = gamma twice
    gamma is used for the shift too; the shift is beta: `{affine}`.
beta_as_gamma: affine = beta scales
    beta is used for the scale too; the scale is gamma: `{affine}`.
"""

VARIANCE = """
ddof_1: spread = ddof
    the variance is the unbiased one: you divide by n - 1 (ddof=1), so that everything comes out smaller by
    the factor sqrt((n - 1)/n). Divide by n: `x.var({axis})`, ddof=0.
divided_by_n_plus_1: spread = n + 1
    the variance is divided by n + 1; divide by n: `x.var({axis})`.
sum_instead_of_mean: spread = sum
    the squares are summed, not averaged: you divide by the length (L2 norm) of the centred {group}, so that
    everything comes out smaller by the factor 1/sqrt(n). Use the mean of the squares: `x.var({axis})`.
wrong_count: spread = others
    the sum of squares is divided by the wrong count: {wrong_count}. Only a square input hides it. Use
    `x.var({axis})`.
spread_not_centred: spread = square
    the variance is taken without subtracting the mean: you use mean(x**2), so that a {group} with a large
    mean comes out too small. Use mean((x - mean)**2).
spread_not_centred: spread = square sum
    you divide by the L2 norm of x: a sum of squares, not centred. Use mean((x - mean)**2).
spread_not_centred: spread = square ddof
    the variance is taken without subtracting the mean, and divided by n - 1. Use mean((x - mean)**2).
brackets_missing: spread = mean squared
    brackets are missing: x - mean**2 squares the mean alone, and its average can be negative, which makes the root NaN.
    Square the differences: ((x - mean)**2), then average.
square_missing: spread = mean only
    the mean of x itself stands under the root, which makes it NaN where that is negative. A variance belongs there:
    mean((x - mean)**2).
variance_identity_sign: spread = plus
    the sign in the identity for the variance is wrong: you add E[x]**2. It is var = E[x**2] - E[x]**2.
variance_identity_square: spread = unsquared
    the mean is not squared in the identity for the variance. It is var = E[x**2] - E[x]**2.
variance_identity_sign: spread = negated
    the identity for the variance is the wrong way round, which makes it negative and its root NaN. It is
    var = E[x**2] - E[x]**2.
square_after_mean: spread = centred mean square
    the deviations are averaged before they are squared (or are not squared at all), and the mean of
    deviations is always 0. Square first: mean((x - mean)**2).
square_after_mean: spread = mean square
    you divide by the mean itself (its square under the root), not by the spread. Use mean((x - mean)**2).
mean_absolute: spread = deviation
    you divide by the mean absolute deviation, mean(|x - mean|). Use the root of mean((x - mean)**2).
mean_absolute: spread = absolute deviation, as variance
    you put the mean absolute deviation under the root instead of squares. Use mean((x - mean)**2).
maximum: spread = maximum
    you divide by the largest absolute value. Use the root of mean((x - mean)**2).
range: spread = range
    you divide by the range, max - min. Use the root of mean((x - mean)**2).
mean_missing: spread = own square
    the squares are not averaged, so that each number is divided by its own deviation. Use mean((x -
    mean)**2).
root_twice: spread = std
    the square root is taken twice: `x.std` is already a root. Take the root of the variance, `x.var`.
std_squared_twice: spread = second std
    the variance is squared under the root. Use the variance as it is.
averaged_twice: spread = divided twice
    the variance is divided by n twice, so that everything comes out larger by the factor sqrt(n). Once:
    `x.var({axis})`.
pooled: spread = pooled
    the variances of all {group}s are averaged to one, so that a {group} depends on the others. Each has its own.
welford: spread = welford
    the running (Welford) variance adds delta * delta; it adds delta * (x - new mean), or the spread comes
    out too large.
halves: spread = halves
    variances of parts are averaged, and the distance between the means of the parts is lost. Take the mean
    of the whole {group} first.
padding_counted: spread = zero lanes
    zeros that pad the {group} to a power of two (3 to 4, 6 to 8) count in the variance, as (0 - mean)**2.
    Leave the padding out.
padding_counted: spread = block
    the variance is divided by a padded length, the next power of two (4 for 3, 8 for 6); the padding does
    not count: divide by n.
wrong_power: spread = fourth
    the deviations are raised to the power 4; square them.
not_centred: centre = none
    the mean is not subtracted from x: each {group} should have mean 0 before gamma and beta. Use (x - mean)
    in the numerator too.
mean_added: centre = plus
    the mean is added; subtract it: (x - mean).
sign: centre = reversed
    the sign is wrong: you use (mean - x). It is (x - mean).
median: centre = median
    the median is subtracted; subtract the mean.
minimum: centre = min
    the smallest value is subtracted; subtract the mean.
maximum_subtracted: centre = max
    the largest value is subtracted, as for a softmax; subtract the mean.
sum_subtracted: centre = sum
    the sum is subtracted, not the mean; divide it by n.
"""
