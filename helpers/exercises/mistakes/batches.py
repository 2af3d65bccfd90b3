"""Mistakes in batch_norm and masked_batch_norm."""

BATCH = """
unbiased_to_normalize: spread = ('ddof', 'training')
    in training you normalize by the unbiased variance (ddof=1, divided by n - 1). The output uses the
    biased one, divided by n; only running_var keeps the unbiased one.
momentum_reversed: momentum_use = reversed
    the momentum convention is reversed: momentum weighs your old running value instead of the new batch.
    Here new = (1 - momentum) * old + momentum * batch (PyTorch's convention; Keras has it the other way
    round).
momentum_reversed: mean_momentum = reversed
    the momentum convention is reversed for running_mean: new = (1 - momentum) * old + momentum * batch.
momentum_reversed: var_momentum = reversed
    the momentum convention is reversed for running_var: new = (1 - momentum) * old + momentum * batch.
update_sign: momentum_use = away
    the running values move away from the batch's, old - momentum * (batch - old). Use (1 - momentum) * old + momentum *
    batch.
wrong_correction: kept_variance = by entries
    the correction n / (n - 1) counts all entries (x.size); n is the number of values in one channel: x.size //
    x.shape[1].
wrong_correction: kept_variance = by channels
    the correction n / (n - 1) counts the channels; n is the number of values in one channel: x.size // x.shape[1].
wrong_correction: kept_variance = by one position axis
    with four axes the correction n / (n - 1) leaves an axis out; n is the number of values in one channel: x.size //
    x.shape[1].
momentum_unused: momentum_use = replaced
    the running statistics are replaced by those of the batch; keep most of the old: new = (1 - momentum) *
    old + momentum * batch.
not_updated: momentum_use = kept
    the running statistics are not updated in training: they come back as they went in. Return (1 -
    momentum) * old + momentum * batch.
old_not_decayed: momentum_use = old in full
    the old running value keeps its full weight, old + momentum * batch, so that it grows without end. Use
    (1 - momentum) * old + momentum * batch.
new_not_weighed: momentum_use = new in full
    the batch's value comes in with full weight. Use (1 - momentum) * old + momentum * batch.
same_weight_twice: momentum_use = both reversed twice
    old and new have the same weight, momentum. Use (1 - momentum) * old + momentum * batch.
old_lost: momentum_use = old lost
    the old running value is lost: you return momentum * batch. Use (1 - momentum) * old + momentum * batch.
old_lost: momentum_use = old lost, reversed
    the old running value is lost. Use (1 - momentum) * old + momentum * batch.
momentum_ignored: momentum_use = always 0.1
    the argument momentum is ignored: 0.1 is used whatever it is. Use (1 - momentum) * old + momentum *
    batch.
momentum_ignored: momentum_use = always 0.9
    the argument momentum is ignored: 0.9 weighs the batch. Use (1 - momentum) * old + momentum * batch.
old_not_decayed: momentum_use = added
    the statistics are summed up over the batches. Use (1 - momentum) * old + momentum * batch.
momentum_ignored: momentum_use = average
    old and new are averaged, whatever momentum is. Use (1 - momentum) * old + momentum * batch.
sign: momentum_use = minus
    a sign is wrong: new = (1 - momentum) * old + momentum * batch.
momentum_squared: momentum_use = squared
    momentum is multiplied in twice, momentum**2: new = (1 - momentum) * old + momentum * batch.
momentum_brackets: momentum_use = no brackets
    brackets are missing: 1 - momentum * old takes momentum * old from 1. Use (1 - momentum) * old + momentum * batch.
updated_twice: momentum_use = twice
    the running statistics are updated twice in one call. Once is right.
running_var_biased: kept_variance = biased
    running_var keeps the biased variance. The convention here is PyTorch's: the unbiased one is kept, var *
    n / (n - 1), while the output uses the biased one.
running_var_is_std: kept_variance = std
    running_var holds the standard deviation, not the variance. Keep var * n / (n - 1).
running_var_is_std: kept_variance = unbiased std
    running_var holds the standard deviation, not the variance. Keep var * n / (n - 1).
running_var_is_std: kept_variance = std with eps
    running_var holds sqrt(var + eps), the standard deviation, not the variance. Keep var * n / (n - 1).
running_var_is_inverse_std: kept_variance = rstd
    running_var holds the inverse std, 1 / sqrt(var + eps), not the variance. Keep var * n / (n - 1).
running_var_is_inverse_std: kept_variance = rstd without eps
    running_var holds the inverse std, 1 / sqrt(var), not the variance. Keep var * n / (n - 1).
eps_in_running_var: kept_variance = with eps
    eps is added to running_var; it belongs only under the root. Keep var * n / (n - 1).
eps_in_running_var: kept_variance = biased with eps
    running_var holds var + eps, biased; eps belongs only under the root. Keep var * n / (n - 1).
eps_in_running_var: kept_variance = unbiased with eps
    running_var holds (var + eps) * n / (n - 1); eps belongs only under the root. Keep var * n / (n - 1).
wrong_count: kept_variance = batch size under the sum
    with positions (three axes or more) the sum of all squares of a channel is divided by N - 1, the batch size less one;
    divide it by n - 1, where n is N times the positions.
sum_instead_of_mean: kept_variance = sum
    running_var holds the sum of squares, not their mean. Keep var * n / (n - 1).
wrong_correction: kept_variance = whole factor
    n // (n - 1) is a whole number, mostly 1: the correction is lost. Use `/`: var * n / (n - 1).
wrong_correction: kept_variance = other way
    the correction is upside down: the unbiased variance is var * n / (n - 1).
wrong_correction: kept_variance = twice unbiased
    the correction n / (n - 1) is applied twice to running_var. Once is right.
wrong_count: kept_variance = batch size
    with positions (three axes or more) the correction uses the batch size N; n is the number of values of a
    channel, N times the positions: var * n / (n - 1).
wrong_count: kept_variance = by features
    the variance kept in running_var is divided by the number of features, not of values in the batch.
wrong_count: kept_variance = by features, biased
    the variance kept in running_var is divided by the number of features, not of values in the batch.
running_var_about_running_mean: kept_variance = about unbiased of new
    the variance for running_var is taken about the running mean, which adds the distance between the two means. Take
    it about the mean of the batch, x.var of the batch.
running_var_about_running_mean: kept_variance = about biased of new
    the variance for running_var is taken about the running mean (and divided by n). Take it about the mean of the
    batch, and divide by n - 1.
running_var_about_running_mean: kept_variance = about unbiased of old
    the variance for running_var is taken about the old running mean, which adds the distance between the two means.
    Take it about the mean of the batch.
running_var_about_running_mean: kept_variance = about biased of old
    the variance for running_var is taken about the old running mean (and divided by n). Take it about the mean of the
    batch, and divide by n - 1.
running_var_wrong: kept_variance = mean
    running_var is updated with the mean of the batch, not its variance.
running_var_wrong: kept_variance = square
    running_var keeps mean(x**2), not centred. Keep the unbiased variance, var * n / (n - 1).
sum_instead_of_mean: kept_mean = sum
    running_mean keeps the sum of the batch; keep its mean.
running_mean_wrong: kept_mean = var
    running_mean is updated with the variance of the batch, not its mean.
running_mean_wrong: kept_mean = overall
    running_mean is updated with one mean of the whole batch; each channel has its own: `axis=0` for two
    axes.
running_mean_wrong: kept_mean = zero
    running_mean only decays; add momentum * the batch's mean.
running_not_updated: mean_momentum = kept
    running_mean is not updated in training.
running_not_updated: var_momentum = kept
    running_var is not updated in training.
line_copied: old_variance = new running_mean
    in the line of running_var the old value is running_mean: a copied line? new = (1 - momentum) * running_var +
    momentum * var * n / (n - 1).
line_copied: old_variance = running_mean
    in the line of running_var the old value is running_mean: a copied line? new = (1 - momentum) * running_var +
    momentum * var * n / (n - 1).
statistics_of_y: kept_of = y
    the running statistics are updated with mean and variance of the output y. Take those of x.
statistics_of_y: kept_of = x_hat
    the running statistics are updated with mean and variance of the normalized values, which are 0 and nearly 1. Take
    those of x.
batch_statistics_in_evaluation: statistics = batch
    in evaluation you still use the batch's own mean and variance, so that one example changes another. With
    training=False use running_mean and running_var.
running_statistics_in_training: statistics = running
    in training you normalize by the running statistics. With training=True use the mean and variance of the
    batch.
modes_exchanged: statistics = exchanged
    training and evaluation are exchanged: with training=True the batch's statistics are used, with False
    the running ones.
running_statistics_in_training: statistics = after update
    in training you normalize by the running statistics after their update. Use the mean and variance of the
    batch; the running ones are for evaluation.
batch_statistics_in_evaluation: statistics = mixed
    in evaluation you use running_mean, but the variance of the batch. Use running_var.
batch_statistics_in_evaluation: statistics = mixed, mean
    in evaluation you use running_var, but the mean of the batch. Use running_mean.
corrected_again: statistics = unbiased again
    in evaluation running_var is multiplied by n / (n - 1) once more; it is unbiased already. Use it as it
    is.
nothing_in_evaluation: statistics = untouched
    in evaluation x is not normalized at all. Use running_mean and running_var.
updated_in_evaluation: update = always
    the running statistics are updated in evaluation too. With training=False they come back unchanged.
updated_in_evaluation: update = in evaluation
    the running statistics are updated in evaluation and not in training: the condition is the wrong way
    round.
arguments_swapped: arguments = swapped in evaluation
    statistics and parameters are swapped in evaluation: gamma and beta are used as mean and variance. The
    order is gamma, beta, running_mean, running_var.
arguments_swapped: arguments = swapped
    statistics and parameters are swapped: gamma and beta are used as mean and variance. The order is gamma,
    beta, running_mean, running_var.
arguments_swapped: arguments = running swapped
    running_mean and running_var are swapped in evaluation. The order is running_mean, running_var.
axis_batch_only: axis = batch only
    with more than two axes you average over the batch only, so that each position has its own statistics.
    Use every axis but the channels: `axis=(0, 2, 3)` for four axes.
axis_per_position: axis = per position
    with more than two axes you reduce over batch and channels, separately for each position: channels are
    mixed. Use every axis but axis 1: `axis=(0, 2, 3)` for four axes.
not_lined_up: shapes = none lined up
    with more than two axes the vectors of length C line up with the last axis instead of the channels: reshape gamma, beta
    and the running statistics to (1, C, 1, ...).
axis_last: axis = last is channel
    you take the last axis for the channels, so that with more than two axes the wrong numbers are averaged.
    The channels are axis 1: `axis=(0, 2, 3)` for four axes.
axis_features: axis = example
    each example is normalized over its own features: that is LayerNorm. BatchNorm averages over the batch,
    each channel by itself: `axis=0` for two axes.
axis_features: axis = features
    you average over axis 1, the features of one example: that is LayerNorm. BatchNorm averages over the
    batch, each channel by itself: `axis=0` for two axes.
axis_instance: axis = instance
    with more than two axes you average over the positions of each example only: that is InstanceNorm.
    Include the batch: `axis=(0, 2, 3)` for four axes.
axis_all: axis = all
    one mean and one variance are taken over the whole array; each channel has its own: `axis=0` for two
    axes.
not_lined_up: shapes = not lined up
    with more than two axes gamma and beta line up with the last axis instead of the channels: reshape them
    to (1, C, 1, ...).
"""

# Slips that are tried one at a time only.
ALONE_IN_BATCH = """
channels_mixed: layout = mixed
    with more than two axes `x.reshape(-1, C)` does not bring the channels to the end, it mixes them. Move the axis
    first: `np.moveaxis(x, 1, -1).reshape(-1, C)`, and back at the end; or leave x as it is and average over
    `axis=(0, *range(2, x.ndim))`.
channels_mixed: layout = mixed, statistics
    with more than two axes the mean and the variance of the batch are taken of `x.reshape(-1, C)`, which mixes the
    channels. Move the axis first, `np.moveaxis(x, 1, -1).reshape(-1, C)`, or average x over `axis=(0, *range(2, x.ndim))`.
channels_mixed: layout = ('mixed', 'training')
    in training, with more than two axes, `x.reshape(-1, C)` does not bring the channels to the end, it mixes them. Move the
    axis first: `np.moveaxis(x, 1, -1).reshape(-1, C)`, and back at the end; or leave x as it is and average over
    `axis=(0, *range(2, x.ndim))`.
not_moved_back: layout = mixed at the end
    with more than two axes y comes back in the wrong order: you moved the channels to the end, and `.reshape(x.shape)`
    alone does not move them back. Reshape to (N, ..., C), then `np.moveaxis(y, -1, 1)`.
not_moved_back: layout = ('mixed at the end', 'training')
    in training, with more than two axes, y comes back in the wrong order: you moved the channels to the end, and
    `.reshape(x.shape)` alone does not move them back. Reshape to (N, ..., C), then `np.moveaxis(y, -1, 1)`.
channels_mixed: layout = channels first
    `x.reshape(C, -1)` does not bring the channels to the front, it mixes them. Move the axis first: `np.moveaxis(x, 1,
    0).reshape(C, -1)`, and back at the end; or leave x as it is and average over `axis=(0, *range(2, x.ndim))`.
channels_mixed: layout = channels first, statistics
    the mean and the variance of the batch are taken of `x.reshape(C, -1)`, which mixes the channels. Move the axis first,
    `np.moveaxis(x, 1, 0).reshape(C, -1)`, or average x over `axis=(0, *range(2, x.ndim))`.
channels_mixed: layout = ('channels first', 'training')
    in training `x.reshape(C, -1)` does not bring the channels to the front, it mixes them. Move the axis first:
    `np.moveaxis(x, 1, 0).reshape(C, -1)`, and back at the end; or leave x as it is and average over
    `axis=(0, *range(2, x.ndim))`.
mean_of_variances: spread = of examples
    with more than two axes the variances of the examples are averaged, so that the spread between the examples is lost.
    Take one variance over all values of a channel: `axis=(0, *range(2, x.ndim))`.
mean_of_variances: kept_variance = of examples
    running_var keeps the average of the examples' variances: the spread between the examples is lost. Take one variance
    over all values of a channel, `axis=(0, *range(2, x.ndim))`.
mean_of_variances: kept_variance = of examples, biased
    running_var keeps the average of the examples' variances, divided by n: the spread between the examples is lost. Take
    one variance over all values of a channel, `axis=(0, *range(2, x.ndim))`, and keep var * n / (n - 1).
wrong_correction: factor = whole sum
    the correction n / (n - 1) multiplies the old running_var too; it belongs to the variance of the batch: (1 - momentum) *
    old + momentum * var * n / (n - 1).
"""

MASKED = """
padding_counted: counted = all
    the padding is counted: mean and variance run over all positions. Average over the real tokens only,
    `x[mask]`.
padding_counted: counted = zeros in both
    the padding is counted as zeros, in the sum and in the number of tokens. Average over the real tokens
    only, `x[mask]`.
divided_by_all: counted = all divided
    the sums leave the padding out, but are divided by the number of all positions. Divide by the number of
    real tokens, `mask.sum()`.
divided_by_all: counted = var divided
    the variance is divided by the number of all positions, padding counted. Divide by `mask.sum()`.
divided_by_all: counted = mean divided
    the mean is divided by the number of all positions, padding counted. Divide by `mask.sum()`.
divided_by_sequences: counted = by sequences
    the sums over the real tokens are divided by the number of sequences. Divide by the number of real tokens,
    `mask.sum()`.
padding_in_mean: counted = mean sum of all
    the mask is not applied to the sum of the mean: what stands in the padding is added up, while you divide by the number
    of real tokens. Sum `x * mask[..., None]`, or average `x[mask]`.
padding_in_variance: counted = variance sum of all
    the mask is not applied to the sum of the variance: the padding's squared distances are added up, while you divide by
    the number of real tokens. Multiply the squares by `mask[..., None]`, or use `x[mask].var(axis=0)`.
padding_in_variance: counted = square sum of all
    the mask is not applied to the sum of x**2: what stands in the padding is squared and added up. Use `x[mask]`.
padding_counted: counted = both sums of all
    the mask is applied to neither sum: only the number of tokens you divide by is that of the real ones. Use `x[mask]`.
mean_of_means: counted = mean of means, then squares
    the mean is the average of the sequences' averages, so that a token of a short one counts more. Average over all real
    tokens at once, `x[mask]`.
padding_in_mean: counted = mean of all
    the mean counts the padding; only the variance leaves it out. Average over `x[mask]`.
padding_in_mean: counted = mean of all, own var
    the mean counts the padding; only the variance leaves it out. Average over `x[mask]`.
padding_in_variance: counted = var of all
    the variance counts the padding; only the mean leaves it out. Use `x[mask].var(axis=0)`.
padding_in_variance: counted = zeros in var
    the padding is set to 0, but then counted in the variance, as (0 - mean)**2. Multiply the squares by the
    mask, or use `x[mask].var(axis=0)`.
padding_in_variance: counted = zeros in var, all divided
    the padding's squared distances, (0 - mean)**2, are in the variance. Choose the real tokens before you square and
    average: `x[mask].var(axis=0)`.
mask_inverted: counted = padding
    the mask is the wrong way round: you average over the padding. True marks a real token.
per_sequence: counted = sequence
    each sequence is normalized by itself; BatchNorm averages over all real tokens of the batch, `x[mask]`.
per_position: counted = position
    each time step has its own statistics; average over all real tokens together, `x[mask]`.
per_position: counted = batch only
    you average over the batch only, so that each time step has its own statistics, and the padding counts.
    Use `x[mask].mean(axis=0)`.
mean_of_means: counted = mean of means
    you average the averages of the sequences, so that tokens of short ones weigh more. Average over all
    real tokens at once, `x[mask]`.
mean_of_means: counted = mean of means, used
    you average the means and the squares of the sequences, so that a token of a short one counts more. Average over
    all real tokens at once, `x[mask]`.
mask_guessed: counted = guessed
    the mask is not used: what is 0 is taken for padding. The padding may hold any number, and a real token may be 0.
    Use `mask`.
first_tokens: counted = first of all
    the statistics are those of the first tokens of the flattened batch, as many as there are real ones: the mask picks
    others. Use `x[mask]`.
lengths_only: counted = first of each, everywhere
    you use only how many tokens of a sequence are real and take the first ones; `mask` says which they are: padding may
    stand in front or in between. Use `x[mask]`, and `np.where(mask[..., None], y, 0)` at the end.
lengths_only: counted = first of each
    for mean and variance you use only how many tokens of a sequence are real and take the first ones; `mask` says which
    they are: padding may stand in front or in between. Use `x[mask]`.
lengths_only: padding = after the length
    what comes out 0 goes by how many tokens of a sequence are real; `mask` says which: padding may stand in front or in
    between. Use `np.where(mask[..., None], y, 0)`.
mask_turned: counted = turned
    the mask lies along the channels, as `mask[:, None, :]` makes it, which fits only where T = C. Its new axis comes
    last: `mask[..., None]`.
divided_by_entries: counted = by entries
    the sums are divided by the number of entries, tokens times channels; each channel has one value a token: divide by
    `mask.sum()`.
axis_features: counted = token
    each token is normalized over its features: that is LayerNorm. BatchNorm has statistics for each
    channel: `x[mask].mean(axis=0)`.
time_as_channels: counted = time
    the time axis is treated as the channels: you average over axis 0 and 2. In x (N, T, C) the channels are
    last: `x[mask].mean(axis=0)`.
time_as_channels: counted = time, own gamma
    the time axis is treated as the channels, in the statistics and for gamma and beta; it fails unless T =
    C. In x (N, T, C) the channels are last: `x[mask].mean(axis=0)`.
one_number: counted = one number
    one mean and variance are taken over all channels together; each has its own: `x[mask].mean(axis=0)`.
first_token_only: counted = first token
    only the first token of each sequence is counted. Use `x[mask]`.
last_token_only: counted = last token
    only the last position is counted. Use `x[mask]`.
padding_not_zeroed: padding = normalized
    the padding comes out normalized like a token. It should be 0: `np.where(mask[..., None], y, 0)`.
padding_not_zeroed: padding = kept
    the padding comes out as it went in. It should be 0: `np.where(mask[..., None], y, 0)`.
padding_not_zeroed: padding = beta
    the padding comes out as beta: it was set to 0 before the shift. Set it to 0 at the end.
padding_not_zeroed: padding = nan
    the padding comes out as NaN. It should be 0.
mask_inverted: padding = inverted
    the mask is the wrong way round at the end: real tokens come out 0. True marks a real token.
padding_removed: padding = removed
    only the real tokens come back, as one list. Put them back in place: `y = np.zeros_like(x)`, `y[mask] =
    ...`.
"""
