"""Mistakes in gradients through depth and in what is done with them; a choice is a formula or its name."""

LOCAL = """
derivative_at_activation: local = 1 - np.tanh(np.tanh(z))**2
    the derivative of tanh is evaluated at the wrong point: tanh is taken of the activation once more, 1 -
    tanh(tanh(z))**2. With a = tanh(z) it is 1 - a**2.
derivative_missing: local = np.ones_like(z)
    the derivative of tanh is missing: dz = dy * (1 - tanh(z)**2), with z the argument of tanh.
derivative_wrong: local = np.tanh(z)
    tanh itself is used where its derivative belongs: 1 - tanh(z)**2.
derivative_not_squared: local = 1 - np.tanh(z)
    the square is missing in the derivative: 1 - tanh(z)**2.
derivative_not_squared: local = (1 - np.tanh(z))**2
    the square covers too much, (1 - tanh(z))**2: it is 1 - tanh(z)**2.
derivative_of_z: local = 1 - z**2
    the derivative uses z where the activation tanh(z) belongs: 1 - z**2 is not 1 - tanh(z)**2.
derivative_wrong: local = np.tanh(z)**2
    the 1 - is missing in the derivative: 1 - tanh(z)**2.
derivative_sign: local = 1 + np.tanh(z)**2
    a sign is wrong in the derivative: 1 - tanh(z)**2.
derivative_wrong: local = np.sqrt(1 - np.tanh(z)**2)
    there is no root in the derivative: 1 - tanh(z)**2.
derivative_of_sigmoid: local = np.tanh(z) * (1 - np.tanh(z))
    a * (1 - a) is the sigmoid's derivative; tanh's is 1 - a**2.
derivative_of_relu: local = (z > 0) * 1.0
    that is ReLU's derivative; tanh's is 1 - tanh(z)**2.
derivative_of_gradient: local = 1 - np.tanh(dy)**2
    the derivative is evaluated at the gradient; evaluate it at z, the argument of tanh: 1 - tanh(z)**2.
derivative_of_input: local = 1 - np.tanh(x)**2
    the derivative is evaluated at the layer's input, without W: it is 1 - tanh(z)**2 with z = x @ W.
derivative_twice: local = (1 - np.tanh(z)**2)**2
    the derivative of tanh is multiplied in twice; once is right.
derivative_wrong: local = 2 * (1 - np.tanh(z)**2)
    the derivative is twice too large: 1 - tanh(z)**2.
"""

LOCAL_RARE = """
derivative_wrong: local = np.tanh(z) * (1 - np.tanh(z)**2)
    there is a factor tanh(z) too many: dz = dy * (1 - tanh(z)**2).
derivative_wrong: local = 1 / (1 + z**2)
    1 / (1 + z**2) is the derivative of arctan; that of tanh is 1 - tanh(z)**2.
upstream_without_brackets: upstream = without brackets
    the brackets are missing: dy * 1 - tanh(z)**2 is dy - tanh(z)**2. Write dz = dy * (1 - tanh(z)**2).
"""

UPSTREAM = """
upstream_missing: upstream = missing
    the incoming gradient is not multiplied in: you use the local derivative alone. Multiply:
    dz = dy * (1 - tanh(z)**2).
upstream_added: upstream = added
    the incoming gradient is added to the local derivative; by the chain rule they are multiplied.
"""

RESIDUAL_LOCAL = """
derivative_at_output: local = 1 - (x + np.tanh(z))**2
    the derivative is taken as 1 - y**2, and y is more than the activation: it has x in it. Use 1 - tanh(x @ W)**2.
derivative_at_output: local = 1 - np.tanh(x + np.tanh(z))**2
    the derivative is evaluated at the block's output, 1 - tanh(y)**2; evaluate it at the argument of tanh: 1 - tanh(x @
    W)**2.
W_transposed_in_forward: local = 1 - np.tanh(x @ W.T)**2
    W is transposed in the forward pass, where z = x @ W. Use 1 - tanh(x @ W)**2.
"""

RESIDUAL_DX = """
skip_missing: dx = dz @ W.T
    the shortcut's part is missing: dy itself reaches x too.
branch_missing: dx = dy
    the branch's part is missing: dx is only what the shortcut passes.
not_transposed: dx = dy + dz @ W
    W is not transposed on the way back.
skip_twice: dx = 2 * dy + dz @ W.T
    dy is added twice; there is one shortcut.
skip_without_dy: dx = 1 + dz @ W.T
    the shortcut passes 1 instead of dy: its local derivative is 1, times dy.
skip_of_dz: dx = dz + dz @ W.T
    the shortcut is given dz; it does not go through tanh and passes dy.
skip_through_branch: dx = (dy + dz) @ W.T
    the shortcut's gradient is sent through W as well; it passes dy as it is.
averaged: dx = (dy + dz @ W.T) / 2
    the gradients of the two paths are averaged; at a fork they are summed, not averaged.
averaged: dx = (dy + dz @ W.T) / np.sqrt(2)
    the sum is divided by sqrt(2); the gradients of the two paths are summed.
multiplied: dx = dy * (dz @ W.T)
    the two paths are multiplied; their gradients are summed.
multiplied: dx = dy * (1 + dz @ W.T)
    dy is multiplied in twice: dz contains it already.
multiplied: dx = dy * (1 + slope @ W.T)
    dy comes after W.T, entry by entry, as if f' were one number; it belongs before the matrix product: dy + (dy *
    slope) @ W.T.
sign: dx = dy - dz @ W.T
    the branch's part is subtracted; it is added.
sign: dx = dz @ W.T - dy
    the shortcut's part is subtracted; it is added.
skip_of_x: dx = x + dz @ W.T
    x is added where dy belongs: the shortcut passes the gradient, not the input.
W_missing: dx = dy + dz
    W is missing in the branch's part: the gradient goes back through x @ W.
dW_for_W: dx = dy + dz @ dW.T
    the gradient goes back through dW; it goes back through W.
skip_through_branch: dx = slope * (dy + dz @ W.T)
    the shortcut's gradient is sent through tanh as well; it passes dy as it is.
slope_after_W: dx = dy + (dy @ W.T) * slope
    the derivative of tanh is applied after W.T; tanh came last, so it is undone first.
dW_for_dx: dx = dW
    dx is the gradient of W.
averaged_over_rows: dx = (dy + dz @ W.T) / len(x)
    dx is divided by the number of rows; each row keeps its own gradient.
branch_twice: dx = dy + 2 * (dz @ W.T)
    the branch's part is added twice.
elementwise: dx = dy + dz * W.sum(axis=1)
    the branch's part needs a matrix product, `@`.
maximum: dx = np.maximum(dy, dz @ W.T)
    the larger of two gradients is taken; they are summed.
skip_through_branch: dx = dy @ (np.eye(len(W)) + W.T)
    tanh is left out of the branch's part.
"""

RESIDUAL_DW = """
dW_transposed: dW = dz.T @ x
    dW is transposed.
dW_of_dy: dW = x.T @ dy
    dW uses dy where dz belongs: the derivative of tanh is missing there.
slope_after_W: dW = x.T @ ((dy @ W.T) * slope)
    dW is made of the gradient after W.T; dz = dy * (1 - tanh(z)**2) has no W in it.
dW_averaged: dW = x.T @ dz / len(x)
    dW is divided by the number of rows; it is the sum over them.
dW_of_activation: dW = np.tanh(x @ W).T @ dz
    dW uses tanh(x @ W) where the layer's input x belongs.
dW_of_activation: dW = (x @ W).T @ dz
    dW uses x @ W where the layer's input x belongs.
dW_of_activation: dW = (x + np.tanh(x @ W)).T @ dz
    dW uses the block's output where its input x belongs.
dW_with_skip: dW = x.T @ (dy + dz)
    the shortcut's gradient is in dW; the shortcut does not touch W.
dW_of_dx: dW = x.T @ dx
    dW is made from dx; it is made from dz.
dW_zero: dW = 0 * W
    dW is zero everywhere.
dW_factor: dW = 2 * (x.T @ dz)
    dW is twice too large.
dW_factor: dW = x.T @ dz / 2
    dW is half of what it should be.
dW_sign: dW = -(x.T @ dz)
    dW has the wrong sign.
dW_times_W: dW = (x.T @ dz) * W
    dW has a factor W too many.
dW_first_row: dW = x[:1].T @ dz[:1]
    only the first row counts in dW; it is the sum over all rows.
dW_last_row: dW = x[-1:].T @ dz[-1:]
    only the last row counts in dW; it is the sum over all rows. In a loop over the rows that takes `+=`; with `=` each
    row replaces the one before.
dW_of_bias: dW = 0 * W + dz.sum(axis=0)
    dW does not contain x: that would be the gradient of a bias.
dW_with_W: dW = x.T @ dz + W
    W is added to dW: weight decay is no part of the gradient.
"""

RESIDUAL_DECAY = """
dW_with_W: dW = x.T @ dz + # * W
    about # * W is added to dW: weight decay is no part of the gradient.
"""

CHAIN_BACK = """
not_transposed: back = dz @ W
    W is not transposed on the way back: `dz @ W.T`.
dW_for_W: back = dz @ dW.T
    the gradient of the weights, dW, is used in place of the weights: the signal goes back through W, `dz @
    W.T`.
updated_before: back = dz @ (W - 0.1 * dW).T
    W is updated before the gradient has passed through it (a step of 0.1): the weights are changed too
    early. Propagate through the old W, `dz @ W.T`.
updated_before: back = dz @ (W - 0.01 * dW).T
    W is updated before the gradient has passed through it (a step of 0.01). Propagate through the old W,
    `dz @ W.T`.
updated_before: back = dz @ (W - dW).T
    W is updated before the gradient has passed through it (a step of 1). Propagate through the old W, `dz @
    W.T`.
derivative_missing: back = dh @ W.T
    the derivative of tanh is missing on the way to the layer below: dz goes through W, not dh: `dz @ W.T`.
wrong_layer: back = dz @ W_next.T
    the matrix of the layer above is used: layer l goes back through W[l].
wrong_layer: back = dz @ W_before.T
    the matrix of the layer below is used: layer l goes back through W[l].
wrong_layer: back = dz @ W_wrapped.T
    the matrix of the layer below is used on the way back, and at the first layer, where the index becomes -1, that of
    the last: `dz @ Ws[l].T`.
derivative_of_layer_below: back = (dh @ W.T) * (1 - h**2)
    the derivative is that of the layer below, 1 - h[l]**2, and comes after W: first dz = dh * (1 - tanh(h[l] @
    W[l])**2), then dz @ W[l].T.
W_missing: back = dz
    W is missing: the signal goes back through it, `dz @ W.T`.
derivative_twice: back = (dz @ W.T) * (1 - np.tanh(h)**2)
    a derivative of tanh is multiplied in once more, for the layer's input; once a layer is right.
averaged_over_rows: back = dz @ W.T / len(h)
    the gradients are divided by the number of rows; each row keeps its own.
sign: back = -(dz @ W.T)
    the sign flips in every layer.
"""

CHAIN_SKIP = """
skip_missing: skip = down
    with residual=True the shortcut's part is missing: add dh to what comes through W.
skip_of_dz: skip = down + dz
    with residual=True the shortcut passes dz; it does not go through tanh and passes dh.
skip_of_dout: skip = down + dout
    with residual=True the shortcut passes dout in every layer; it passes the gradient at this layer's
    output, dh.
skip_scaled: skip = down + 0.5 * dh
    with residual=True only half of dh is passed by the shortcut; it passes all of it.
skip_twice: skip = down + 2 * dh
    with residual=True dh is added twice; there is one shortcut in a layer.
skip_without_gradient: skip = down + 1
    with residual=True the shortcut passes 1; it passes 1 * dh.
averaged: skip = (down + dh) / 2
    with residual=True the two paths are averaged; they are summed.
averaged: skip = (down + dh) / np.sqrt(2)
    with residual=True the two parts are divided by sqrt(2); gradients on two paths add up.
skip_through_branch: skip = (dz + dh) @ W.T
    with residual=True the shortcut's part is sent through W; it passes as it is.
multiplied: skip = down * dh
    with residual=True the two paths are multiplied; they are summed.
sign: skip = down - dh
    with residual=True the shortcut's part is subtracted; it is added.
branch_missing: skip = dh + 0 * down
    with residual=True only the shortcut's part is passed; add dz @ W.T.
skip_of_h: skip = down + h
    with residual=True the activations are added where the gradient dh belongs.
multiplied: skip = down * (1 + dh)
    with residual=True the two paths are multiplied; they are summed.
"""

CHAIN_DW = """
dW_of_output: dW = h_next.T @ dz
    the layer's output is used where its input belongs: dW[l] = h[l].T @ dz.
dW_of_output: dW = np.tanh(h @ W).T @ dz
    the activation is used where the layer's input belongs: dW[l] = h[l].T @ dz.
dW_of_x: dW = x.T @ dz
    the first x is used in every layer; the layer's own input belongs there: dW[l] = h[l].T @ dz.
dW_of_x: dW = h_before.T @ dz
    the input of the layer below is used: dW[l] = h[l].T @ dz.
dW_of_dh: dW = h.T @ dh
    the derivative of tanh is missing in dW: h[l].T @ dz, not dh.
dW_of_dh: dW = h.T @ dh_below
    the gradient is one layer too far down in dW: h[l].T @ dz.
dW_transposed: dW = dz.T @ h
    dW is transposed: h[l].T @ dz.
dW_averaged: dW = h.T @ dz / len(h)
    dW is divided by the number of rows; it is the sum over them: h[l].T @ dz.
dW_zero: dW = 0 * W
    dW is zero everywhere: h[l].T @ dz.
dW_of_z: dW = (h @ W).T @ dz
    z stands where the layer's input belongs: dW[l] = h[l].T @ dz.
dW_of_z: dW = np.arctanh(h).T @ dz
    the value before the activation stands where the layer's input belongs: dW[l] = h[l].T @ dz.
dW_of_bias: dW = 0 * W + dz.sum(axis=0)
    dW does not contain the layer's input: that would be the gradient of a bias.
dW_sign: dW = -(h.T @ dz)
    dW has the wrong sign: h[l].T @ dz.
dW_of_activation: dW = np.tanh(h).T @ dz
    tanh is taken of the layer's input once more: dW[l] = h[l].T @ dz.
dW_with_W: dW = h.T @ dz + W
    W is added to dW: weight decay is no part of the gradient.
forward_overwritten: dW = (h_end if residual else h).T @ dz
    with residual=True every dW is made with the last h. Is one array in the list of h several times? `h += ...` changes
    those already in the list; write `h = h + ...`, which makes a new array.
dW_factor: dW = 2 * (h.T @ dz)
    dW is twice too large: h[l].T @ dz.
"""

CHAIN_FLOW = """
forward_not_residual: forward = plain
    with residual=True the forward pass leaves the shortcut out: h[l+1] = h[l] + tanh(h[l] @ W[l]).
forward_residual: forward = residual
    the forward pass adds the shortcut although residual is False.
residual_ignored: forward = ignored
    `residual` is not looked at: the shortcut is added, forward and backward, when it is False too.
residual_always: skip_when = always
    the shortcut's part is added although residual is False.
residual_always: skip_when = always, where it fits
    dh is added wherever the shapes agree, also when `residual` is false; look at `residual`.
skip_in_one_layer: skip_when = first layer
    with residual=True the shortcut's part is added in the first layer only; every layer has a shortcut.
skip_in_one_layer: skip_when = last layer
    with residual=True the shortcut's part is added in the last layer only; every layer has a shortcut.
skip_in_one_layer: skip_when = all but the first
    with residual=True the shortcut's part is missing in the first layer; every layer has a shortcut.
skip_in_one_layer: skip_when = all but the last
    with residual=True the shortcut's part is missing in the last layer; every layer has a shortcut.
residual_inverted: skip_when = inverted, where it fits
    the condition is the wrong way round: the shortcut's part is added when residual is False.
residual_inverted: skip_when = inverted
    the condition is the wrong way round: the shortcut's part is added when residual is False.
forward_without_tanh: forward = linear
    tanh is missing in the forward pass: h[l+1] = tanh(h[l] @ W[l]).
forward_relu: forward = relu
    the forward pass uses ReLU; these are tanh layers.
output_for_input: into = output
    the layer's output stands where its input belongs: layer l starts from h[l], and h[l + 1] is what it gave. For dz and
    dW of layer l take h[l].
not_chained: chain = restart
    every layer starts again from dout; it must start from what the layer above passed down.
not_chained: chain = forward order
    the layers are walked in forward order; the gradient comes from the end, so walk them in reverse.
wrong_layer: chain = last matrix
    the last matrix is used in every layer: is the variable of the first loop used in the second? Use Ws[l].
last_skipped: chain = last skipped
    dout is passed on through the last layer unchanged.
dout_ignored: chain = ones
    dout is ignored: ones come in at the top. Start from dout.
derivative_of_layer_below: slope_of = below
    the derivative of tanh belongs to another layer: layer l uses z = h[l] @ W[l].
derivative_missing_in_one_layer: slope_of = missing in the last
    the derivative is left out in the last layer: dout too arrives after the tanh, dz = dout * (1 - tanh(z)**2).
derivative_missing_in_one_layer: slope_of = missing in the first
    the derivative is left out in the first layer; every layer has a tanh.
derivative_at_output: slope_of = tanh of output
    tanh is taken of the layer's output once more, 1 - tanh(h[l+1])**2: use 1 - tanh(h[l] @ W[l])**2.
not_chained: chain = averaged
    dout is divided by the number of rows before it is passed on; it is the gradient already.
list_overwritten: chain = overwritten
    with residual=True all entries of the list of dL/dh are the same array: `dh += ...` changes what is already in the
    list. Write `dh = dh + ...`, which makes a new array.
list_overwritten: chain = overwritten after the first
    with residual=True several entries of the list of dL/dh are the same array: `dh += ...` changes what is already in
    the list. Write `dh = dh + ...`, which makes a new array.
forward_overwritten: forward = overwritten
    with residual=True all h of the forward pass are the same array, the last value: `h += ...` changes those already in
    the list. Write `h = h + ...`, which makes a new array.
derivative_at_output: slope_of = output
    the derivative is taken as 1 - h[l+1]**2, and with residual=True h[l+1] is more than the activation: use
    1 - tanh(h[l] @ W[l])**2.
dhs_reversed: order = dhs
    the list of dL/dh is in reverse: the first entry is dL/dh[0], the earliest.
dWs_reversed: order = dWs
    the list of dL/dW is in reverse: the first entry is dL/dW[0], the earliest.
lists_reversed: order = both
    both lists are in reverse, as the loop fills them: the first entries belong to the earliest layer.
dhs_length: ends = first missing
    the list of dL/dh lacks dL/dh[0], the gradient of the input: it has L + 1 entries.
dhs_length: ends = last missing
    the list of dL/dh lacks dL/dh[L], which is dout: it has L + 1 entries.
dhs_are_dzs: ends = dz
    the list holds gradients before tanh (dz); it should hold those of h.
residual_dW: skip_in_dW = True
    with residual=True the shortcut's gradient is in dW too; the shortcut does not touch W: h[l].T @ dz.
"""

CHAIN_ALONE = """
shortcut_multiplied: forward = multiplied
    without `residual` the shortcut is still computed, as in `residual * h` or `np.where`, and there the widths may
    differ. Use `if residual:`.
start_zero: chain = zeros
    all gradients are 0: is the last entry of the list of dL/dh, where the loop starts, set to dout?
forward_overwritten: forward = overwritten after the first
    with residual=True all h after x are the same array in the forward pass, the last value: `h += ...` changes those
    already in the list. Write `h = h + ...`, which makes a new array.
residual_ignored: forward = ignored, where it fits
    `residual` is not looked at: the shortcut is added wherever the shapes agree, forward and backward.
forward_residual: forward = residual, where it fits
    the forward pass adds the shortcut wherever the shapes agree, also when `residual` is false; look at `residual`.
shortcut_inside: forward = inside, both ways
    with residual=True the shortcut is added inside the tanh, forward and backward. It goes around tanh: h[l+1] = h[l] +
    tanh(h[l] @ W[l]), and dh comes back on it unchanged.
shortcut_inside: forward = inside
    with residual=True the forward pass adds the shortcut inside the tanh; it goes around: h[l+1] = h[l] + tanh(h[l] @
    W[l]).
shortcut_inside: forward = inside, slope without
    with residual=True the forward pass adds the shortcut inside the tanh; it goes around: h[l+1] = h[l] + tanh(h[l] @
    W[l]).
skip_of_input: forward = from x
    with residual=True the shortcut starts at x in every layer of the forward pass; it starts at the layer's own input:
    h[l+1] = h[l] + tanh(h[l] @ W[l]).
forward_overwritten: dW = (h_end if residual and i else h).T @ dz
    with residual=True every dW but the first is made with the last h. Is one array in the list of h several times? `h +=
    ...` changes those already in the list; write `h = h + ...`, which makes a new array.
dhs_order: order = dhs before the last
    the list of dL/dh is in the wrong order, as `insert(-1, ...)` leaves it: that puts each entry before the last one. Use
    `insert(0, ...)`.
dWs_order: order = dWs before the last
    the list of dL/dW is in the wrong order, as `insert(-1, ...)` leaves it: that puts each entry before the last one. Use
    `insert(0, ...)`.
lists_order: order = both before the last
    both lists are in the wrong order, as `insert(-1, ...)` leaves it: that puts each entry before the last one. Use
    `insert(0, ...)`.
dhs_are_dzs: ends = dz in place
    the list holds gradients before tanh (dz) in place of those of h. Is there a `dh *= ...`? It changes what is already
    in the list; write `dz = dh * ...`, which makes a new array.
dhs_last_zero: ends = last 0
    the last entry of the list of dL/dh is 0, as if it was never set; it is dout.
"""

LENGTHS = """
matrix_norm: length = np.linalg.norm(g, 1)
    `np.linalg.norm(g, 1)` is the largest column sum for a matrix, a sum of absolute values for a vector. The length is the root
    of the sum of squares: leave out the 1.
squared: length = (g**2).sum()
    the square root is missing: you return the squared norm, the sum of squares. Take its root.
absolute: length = np.abs(g).sum()
    absolute values are summed (L1 norm); the Euclidean length is the root of the sum of squares.
largest: length = np.abs(g).max()
    the largest entry is taken; the Euclidean length is the root of the sum of squares.
mean_instead_of_sum: length = np.sqrt((g**2).mean())
    the squares are averaged (RMS); sum them, then take the root.
mean_instead_of_sum: length = (g**2).mean()
    the squares are averaged and the root is missing; sum them, take the root.
mean_instead_of_sum: length = np.abs(g).mean()
    the mean of |g| is taken; the length is the root of the sum of squares.
mean_instead_of_sum: length = g.mean()
    the mean is taken, where signs cancel; the length is the root of the sum of squares.
std: length = g.std()
    the std is taken; the length is the root of the sum of squares, not centred.
not_squared: length = g.sum()
    the entries are summed, where signs cancel; square them, sum, and take the root.
not_squared: length = np.sqrt(np.abs(g.sum()))
    the square is missing: square the entries, sum, and take the root.
matrix_norm: length = np.linalg.norm(g, 2)
    `np.linalg.norm(g, 2)` of a matrix is its largest singular value; leave the 2 out, or flatten g.
matrix_norm: length = np.linalg.norm(g, 'nuc')
    that is the nuclear norm of the matrix; the length is the root of the sum of squares.
params_for_grads: length = np.sqrt((p**2).sum())
    the norms of the parameters are returned; take those of the gradients.
relative: length = np.sqrt((g**2).sum()) / np.sqrt((p**2).sum())
    the gradient's length is divided by the parameter's; only the length is asked for.
relative: length = np.sqrt((p**2).sum()) / np.sqrt((g**2).sum())
    the parameter's length is divided by the gradient's; only the latter is asked for.
sum_of_row_norms: length = np.sqrt((g**2).sum(axis=0)).sum()
    the lengths of the columns are added up; square everything, sum, then take the root.
all_together: length = np.sqrt(sum((a**2).sum() for a in grads))
    every entry is the length of all gradients together; the list has the length of each.
difference: length = np.sqrt(((g - p)**2).sum())
    the length of gradient minus parameter is taken; the parameters are not needed.
sum_of_row_norms: length = np.sqrt((g**2).sum(axis=-1)).sum()
    the lengths of rows are added; take one root of the sum of all squares.
over_size: length = np.sqrt((g**2).sum()) / g.size
    the length is divided by the number of entries; leave it as it is.
squared: length = 0.5 * (g**2).sum()
    half the sum of squares is returned; take the root of the sum of squares.
logarithm: length = np.log10(np.sqrt((g**2).sum()))
    the logarithm of the length is returned; return the length.
"""

EPS = """
eps_added: length = np.sqrt((g**2).sum() + #)
    about # is added under the root, which makes short gradients longer; nothing is divided here, so leave it out.
eps_added: length = np.sqrt((g**2).sum()) + #
    about # is added to the length; nothing is divided here, so leave it out.
"""

EPS_TOTAL = """
eps_added: total = np.sqrt((true**2).sum() + #)
    about # is added under the root of the total; nothing is divided here, so leave it out.
eps_added: total = np.sqrt((true**2).sum()) + #
    about # is added to the total; nothing is divided here, so leave it out.
"""

PASSED = """
first_only: passed = grads[:1]
    only the first gradient is used: is the `return` inside the loop?
last_left_out: passed = grads[:-1]
    the last gradient is left out: the loop ends one too early.
first_left_out: passed = grads[1:]
    the first gradient is left out: the loop starts one too late.
"""

TOTALS = """
norms_added: total = true.sum()
    the total adds the norms; for all gradients as one long vector add the squares and take the root.
norms_added: total = per.sum()
    the total adds up the numbers of the list; add the squares of norms, take the root.
total_squared: total = (true**2).sum()
    the total lacks its square root: it is the squared norm.
total_squared: total = (per**2).sum()
    the total lacks its square root: it is the squared norm.
total_mean: total = true.mean()
    the total is the mean of the norms; it is the root of the sum of their squares.
total_largest: total = true.max()
    the total is the largest norm; it is the root of the sum of the squares of all.
total_of_one: total = true[-1]
    the total is the last norm only; it is the root of the sum of the squares of all.
total_of_one: total = true[0]
    the total is the first norm only; it is the root of the sum of the squares of all.
total_mean: total = np.sqrt((true**2).mean())
    the squared norms are averaged in the total; sum them, then take the root.
total_root_of_sum: total = np.sqrt(true.sum())
    the total is the root of the sum of norms; square the norms before the sum.
total_from_wrong_norms: total = np.sqrt((per**2).sum())
    the total is made from the list's wrong numbers.
params_for_grads: total = np.sqrt(sum((p**2).sum() for p in params))
    the total is that of the parameters; take the gradients.
total_mean: total = np.sqrt((true**2).sum() / sum(g.size for g in grads))
    the total is divided by the number of entries; leave it as it is.
total_mean: total = np.sqrt((true**2).sum()) / len(grads)
    the total is divided by the number of tensors; it is the root of the sum of the squares.
total_root_of_sum: total = np.sqrt(np.sqrt((true**2).sum()))
    the root is taken twice in the total; once is right.
total_product: total = true.prod()
    the norms are multiplied in the total; add their squares, take the root.
total_absolute: total = sum(np.abs(g).sum() for g in grads)
    the total sums absolute values; it is the root of the sum of squares.
total_root_of_sum: total = np.sqrt(per.sum())
    the total is the root of a sum that is not of squares.
"""

CLIP = """
squared_norm: total = total**2
    the squared norm is used: the square root is missing in the total, so you clip too much.
squared_norm: factor = np.where(total**2 > max_norm, max_norm / total, 1)
    the squared norm is compared with max_norm: the square root is missing in the test.
root_of_factor: factor = np.minimum(1, np.sqrt(max_norm / total))
    a root is taken of the factor; it is max_norm / total.
per_tensor: total = norm(g)
    each gradient is clipped by its own norm, which changes the direction of the whole step; use one factor
    for all, from the norm of all together.
per_tensor: clip = [g * min(1, max_norm / np.sqrt(len(grads)) / (norm(g) + 1e-6)) for g in grads]
    each gradient is clipped by itself; use one factor, from the norm of all.
always_scaled: factor = max_norm / (total + 1e-6)
    gradients that are short enough are scaled too, up to max_norm: the factor must not exceed 1: min(1,
    ...).
per_tensor: clip = [g * (max_norm / (norm(g) + 1e-6) if total > max_norm else 1) for g in grads]
    each gradient is scaled to max_norm by its own norm, which changes the direction; use one factor for all, max_norm / total.
divided_by_tensors: factor = np.minimum(1, max_norm / len(grads) / (total + 1e-6))
    max_norm is divided by the number of arrays; all together may have length max_norm.
last_not_clipped: clip = clipped[:-1] + grads[-1:]
    the last array is left as it was: the loop ends one too early.
first_only: clip = clipped[:1]
    only the first array comes back: is the `return` inside the loop?
limit_of_1: factor = np.where(total > 1, max_norm / (total + 1e-6), 1)
    total is compared with 1; compare it with max_norm.
per_tensor: clip = [g * (max_norm / (norm(g) + 1e-6)) for g in grads]
    each gradient is scaled to max_norm by itself; use one factor, at most 1, for all.
max_for_min: factor = np.maximum(1, max_norm / (total + 1e-6))
    the condition is the wrong way round, or max(1, ...) stands where min(1, ...) belongs: short gradients
    grow, long ones stay.
inverted: factor = np.minimum(1, total / max_norm)
    the factor is upside down: max_norm / total.
inverted: factor = total / max_norm
    the factor is upside down: min(1, max_norm / total).
inverted: factor = np.maximum(1, total / max_norm)
    you multiply by total / max_norm; divide by it: max_norm / total.
inverted: factor = 1 / np.minimum(1, max_norm / (total + 1e-6))
    you divide by the factor; multiply by it.
by_value: clip = [np.clip(g, -max_norm, max_norm) for g in grads]
    every entry is clipped by value (np.clip), which changes the direction; scale all by one factor,
    max_norm / total.
by_value: clip = [np.minimum(g, max_norm) for g in grads]
    every entry is cut at max_norm; scale all by one factor, max_norm / total.
not_clipped: clip = grads
    nothing is clipped: the gradients come back as they are.
unit_length: factor = 1 / (total + 1e-6)
    the gradients are scaled to length 1, always; the factor is min(1, max_norm / total).
unit_length: factor = np.where(total > max_norm, 1 / total, 1)
    long gradients are scaled to length 1; scale them to max_norm.
norms_added: total = sum(norm(a) for a in grads)
    the total adds the norms; add the squares and take the root.
other_norm: total = sum(np.abs(a).sum() for a in grads)
    the total sums absolute values (L1); it is the root of the sum of squares.
other_norm: total = max(np.abs(a).max() for a in grads)
    the largest entry is used; the total is the root of the sum of squares.
other_norm: total = max(norm(a) for a in grads)
    the largest of the norms is used; the total is the root of the sum of all squares.
other_norm: total = sum(norm(a) for a in grads) / len(grads)
    the mean of the norms is used; the total is the root of the sum of all squares.
mean_instead_of_sum: total = total / np.sqrt(sum(a.size for a in grads))
    the squares are averaged (RMS); the total is the root of their sum.
mean_instead_of_sum: total = total / np.sqrt(len(grads))
    the squared norms are averaged; the total is the root of their sum.
one_tensor_only: total = norm(grads[-1])
    the total is that of the last gradient only; take all of them.
one_tensor_only: total = norm(grads[0])
    the total is that of the first gradient only; take all of them.
per_tensor: clip = [g * (max_norm / (total + 1e-6)) if norm(g) > max_norm else g * 1 for g in grads]
    only gradients that are long by themselves are scaled; scale all by one factor.
factor_wrong: factor = np.where(total > max_norm, max_norm, 1)
    you multiply by max_norm; the factor is max_norm / total.
factor_wrong: factor = np.where(total > max_norm, 0, 1)
    long gradients are set to 0; scale them by max_norm / total.
factor_wrong: clip = [g - max_norm if total > max_norm else g * 1 for g in grads]
    max_norm is subtracted; scale by max_norm / total.
factor_squared: factor = np.minimum(1, max_norm / (total + 1e-6))**2
    the factor is applied twice; once is right.
running_total: total = np.sqrt(sum((a**2).sum() for a in grads[: i + 1]))
    each gradient is scaled by the total so far, before the loop has seen the others. First the total of all, in a loop
    of its own, then the scaling.
per_tensor: total = np.sqrt((g**2).sum(axis=-1, keepdims=True))
    each row is clipped by its own norm, which changes the direction of the whole step; use one factor for all.
max_norm_ignored: factor = np.minimum(1, 1 / (total + 1e-6))
    max_norm is ignored: 1 is used. The factor is min(1, max_norm / total).
eps_wrong: factor = np.minimum(1, max_norm / (total + 1))
    1 is added to the total; only a tiny 1e-6 belongs there.
one_tensor_scaled: clip = clipped[:1] + grads[1:]
    only the first gradient is scaled; scale all of them.
one_tensor_scaled: clip = grads[:-1] + clipped[-1:]
    only the last gradient is scaled; scale all of them.
always_scaled: factor = max_norm / (total + max_norm)
    every gradient is scaled; those that are short enough stay: min(1, max_norm / total).
joined: clip = np.concatenate([np.ravel(g) for g in clipped])
    there are as many numbers as asked for, but in one long vector: cut them into arrays with the shapes of `grads`.
joined: clip = [np.concatenate([np.ravel(g) for g in clipped])]
    there are as many numbers as asked for, but in one long vector: cut them into arrays with the shapes of `grads`.
arrays_missing: clip = [g * max_norm / (norm(g) + 1e-6) for g in grads if norm(g) > max_norm]
    arrays are missing: those no longer than max_norm are not put into the list. And each is scaled by its own norm; scale
    all by one factor, from the norm of all together.
arrays_missing: clip = [a for a, g in zip(clipped, grads) if norm(g) > max_norm]
    arrays are missing: those no longer than max_norm are not put into the list. Return all of them, scaled by one factor.
arrays_missing: clip = [a for a in clipped if total > max_norm]
    the list is empty when nothing has to be clipped: gradients that are short enough come back unchanged.
per_tensor: total = norm(g)**2
    each gradient is clipped by its own squared norm. Use one factor for all: max_norm / total, with the root of the sum
    of all squares.
matrix_norm: total = np.linalg.norm(g, 2)
    each gradient is clipped by itself, and of a matrix `np.linalg.norm(g, 2)` is the largest singular value. Use one
    factor for all, with the root of the sum of all squares.
matrix_norm: total = np.sqrt(sum(np.linalg.norm(a, 2)**2 for a in grads))
    of a matrix `np.linalg.norm(g, 2)` is the largest singular value; leave the 2 out, or flatten the gradient.
factor_wrong: factor = np.minimum(max_norm, total)
    each gradient is multiplied by the smaller of max_norm and total; the factor is min(1, max_norm / total).
"""

SGD = """
gradients_accumulate: step = w - lr * keep(1, g)
    the gradients accumulate from step to step: the buffer is never cleared (zero_grad is missing). Each
    step uses only the gradient of its own batch.
gradients_accumulate: step = w - lr * keep(1, g) / (i + 1)
    each step uses the mean of all gradients so far; it uses only the gradient of its own batch.
swapped: gradient = grad_fn(b, w)
    the arguments of grad_fn are in the wrong order: grad_fn(w, batch), the weights first.
uphill: direction = uphill
    the sign is wrong: you step up the gradient. w = w - lr * gradient.
lr_missing: step = w - g
    lr is missing: w = w - lr * gradient.
lr_divides: step = w - g / lr
    you divide by lr; multiply: w = w - lr * gradient.
lr_squared: step = w - lr**2 * g
    lr is multiplied in twice; once is right.
divided_by_batches: step = w - lr * g / len(b)
    each step is divided by the batch's length; grad_fn gives the gradient as it is to be used.
previous_batch: used = batches[-1:] + batches[:-1]
    the batches are off by one (batches[i - 1], which begins with the last). Step i uses batches[i].
batches_averaged: used = [sum(batches) / n] * n
    every step uses the mean of all batches; step i uses batches[i].
adaptive: step = w - lr * (keep(0.9, 0.1 * g) / (1 - 0.9**(i + 1))) / (np.sqrt(keep(0.999, 0.001 * g**2) / (1 - 0.999**(i + 1))) + 1e-8)
    that is Adam, with running averages of the gradient and of its square; the exercise asks for plain SGD: w - lr * gradient.
adaptive: step = w - lr * keep(0.9, 0.1 * g) / (np.sqrt(keep(0.999, 0.001 * g**2)) + 1e-8)
    that is Adam without its correction; the exercise asks for plain SGD: w - lr * gradient.
adaptive: step = w - lr * g / (np.sqrt(keep(1, g**2)) + 1e-8)
    the gradient is divided by the root of all squared gradients so far (AdaGrad); plain SGD uses it as it is.
gradient_ahead: gradient = grad_fn(w - lr * grad_fn(w, b), b)
    the gradient is taken one step ahead, at w - lr * gradient; take it at w.
divided_by_batches: step = w - lr * g / n
    each step is divided by the number of batches; take full steps.
gradients_at_start: returned = start - lr * sum(gradients)
    all gradients are taken at the first w and added up; each step must take its gradient at the w of that
    step.
gradients_at_start: returned = start - lr * sum(gradients) / n
    the gradients are averaged into one step; take one step a batch, each from the w of that step.
gradients_at_start: returned = start + lr * sum(gradients)
    all gradients are taken at the first w, with the wrong sign.
last_batch_only: returned = start - lr * gradients[-1]
    only the last batch takes a step, from the first w; take one step a batch.
steps_lost: step = start - lr * g
    each step starts again from the first w, so that only the last one counts: w = w - ...
momentum: step = w - lr * keep(0.9, g)
    a momentum of 0.9 is kept between the steps; plain SGD keeps nothing.
momentum: step = w - lr * (1 - 0.9) * keep(0.9, g)
    a momentum of 0.9 is kept between the steps; plain SGD keeps nothing.
weight_decay: decay = 0.01
    there is a weight decay of 0.01 besides lr * gradient; it is not asked for.
lr_scheduled: step = w - lr * g / (i + 1)
    lr shrinks from step to step; it stays the same here.
gradient_normalized: step = w - lr * g / np.sqrt((g**2).sum())
    the gradient is scaled to length 1; use it as it is.
gradient_normalized: step = w - lr * np.sign(g)
    only the signs of the gradient are used; use it as it is.
twice: step = w - 2 * lr * g
    every step is taken twice.
stale_gradient: step = w - lr * (previous if i else g)
    each step uses the gradient of the batch before: it is computed too late.
stale_gradient: step = w - lr * previous
    each step uses the gradient of the batch before: it is computed after the step.
gradient_averaged: step = w - lr * g.mean()
    the gradient is averaged to one number; each weight has its own.
multiplied: step = w - w * lr * g
    the step is multiplied by w; subtract lr * gradient itself.
set_not_subtracted: step = -lr * g
    w is lost: you return minus the step. w = w - lr * gradient.
order: step = lr * g - w
    the difference is the wrong way round: w - lr * gradient.
last_batch_missing: used = batches[:-1]
    the last batch is left out: the loop ends one too early.
first_batch_missing: used = batches[1:]
    the first batch is left out: the loop starts one too late.
first_batch_only: used = batches[:1]
    only the first batch is used: is the `return` inside the loop?
gradient_of_first_step: step = w - lr * gradients[0]
    the first gradient is used in every step; is it taken before the loop? Take a fresh one inside it.
gradients_accumulate: step = w - lr * (g if i % 2 == 0 else previous + g)
    the gradient is cleared in every second step only, and accumulates between; each step has its own.
steps_lost: step = w - lr * (previous + g) if i % 2 else w
    a step is taken for every second batch only; take one for each batch.
momentum: step = w - lr * (g + 0.9 * keep(0.9, g))
    Nesterov's momentum of 0.9 is kept between the steps; plain SGD keeps nothing.
gradient_normalized: step = w - lr * g / (np.sqrt(keep(0.9, 0.1 * g**2)) + 1e-8)
    the gradient is divided by the root of its running square (RMSprop); plain SGD takes it as it is.
gradient_clipped: step = w - lr * g * min(1, 1 / np.sqrt((g**2).sum()))
    the gradient is clipped to length 1; plain SGD takes it as it is.
gradient_clipped: step = w - lr * np.clip(g, -1, 1)
    the gradient is clipped to [-1, 1]; plain SGD takes it as it is.
two_epochs: used = batches * 2
    the batches are gone through twice; once is asked for.
first_batch_only: used = batches[:1] * n
    every step uses the first batch; each has its own.
order_reversed: used = batches[::-1]
    the batches are used in reverse; take them in the order of the list.
batch_taken_apart: used = [item for b in batches for item in b]
    each part of a batch takes a step of its own: is there a loop over the batch inside the loop? One batch is one step.
whole_list: gradient = grad_fn(w, batches)
    the whole list of batches is given to grad_fn in every step; give it the batch of this step.
whole_list: returned = start - lr * grad_fn(start, batches)
    the whole list of batches is given to grad_fn, once; go through the list and take a step with each batch.
index_for_batch: gradient = grad_fn(w, i)
    the number i is given to grad_fn; give it the batch, batches[i].
start_lost: start = 0 * w
    the steps begin at 0; begin at the w that was passed in.
order: step = lr * (w - g)
    lr multiplies w too: w - lr * gradient.
momentum: step = w - lr * keep(0.9, grad_fn(w - lr * 0.9 * kept(0.9), b))
    that is Nesterov's momentum, with a gradient taken ahead of w; plain SGD keeps nothing.
momentum: step = w - lr * (kept(0.9), keep(0.9, g))[0]
    a momentum of 0.9 is kept between the steps, and w moves before it is updated; plain SGD keeps nothing: w - lr *
    gradient.
momentum: step = w - lr * keep(0.9, grad_fn(w, batches[i - 1]) if i else 0 * w)
    a momentum of 0.9 is kept between the steps, and w moves before it is updated; plain SGD keeps nothing: w - lr *
    gradient.
difference_returned: returned = w - start
    the way from the first w to the last is returned; return the last w.
one_step_too_many: used = batches + batches[-1:]
    one step too many is taken.
weights_averaged: returned = sum(trail) / max(len(trail), 1)
    the weights of all steps are averaged; return the last.
gradient_returned: returned = g
    the last gradient is returned; return w.
trail_returned: returned = np.array(trail)
    the weights of every step are returned; return the last.
trail_returned: returned = np.array([start, *trail])
    the weights of every step are returned, the first ones too; return the last.
not_updated: returned = start
    w comes back unchanged: the new value is never kept. w = w - lr * gradient.
"""

SGD_MEASURED = """
lr_ignored: step = w - # * g
    lr is ignored: about # is used whatever it is. Use w - lr * gradient.
lr_factor: step = w - # * lr * g
    each step is multiplied by about #; it is lr * gradient.
lr_scheduled: step = w - lr * #**i * g
    the learning rate is multiplied by about # after each step; keep it.
momentum: step = w - lr * keep(#, g)
    a momentum of about # is kept between the steps; plain SGD keeps nothing.
momentum: step = w - lr * (g + # * keep(#, g))
    Nesterov's momentum of about # is kept between the steps; plain SGD keeps nothing.
weight_decay: decay = #
    there is a weight decay of about # besides lr * gradient; it is not asked for.
weight_decay: step = # * w - lr * g
    w is multiplied by about # in every step, which is weight decay; it is not asked for: w - lr * gradient.
weight_decay: before = (1 - # * lr) * w
    w is shrunk before each step, a weight decay of about #; it is not asked for.
weight_decay: before = # * w
    w is multiplied by about # before each step, which is weight decay; it is not asked for.
weight_decay: after = (1 - # * lr) * w
    w is shrunk after each step, a weight decay of about #; it is not asked for.
weight_decay: after = # * w
    w is multiplied by about # after each step, which is weight decay; it is not asked for.
momentum: step = w - lr * (keep(0.9, g) + # * w)
    a momentum of 0.9 is kept between the steps, and there is a weight decay of about #; plain SGD has neither.
"""
