"""Mistakes in the blocks with a residual connection; a choice is a piece of a formula."""

SKIPS = """
skip_missing: skip = 
    the shortcut is missing: x itself is not added to what the branch gives.
skip_twice: skip = 2 * x
    x is added twice, so the stream doubles in every block. Add it once.
skip_negative: skip = -x
    x is subtracted; the shortcut adds it unchanged.
skip_of_branch: skip = f(x)
    f(x) stands where the shortcut's x belongs, and x is lost. Keep x, and give f(x) another name.
skip_activated: skip = np.maximum(x, 0)
    the shortcut goes through a ReLU; it must carry x unchanged.
skip_activated: skip = np.tanh(x)
    the shortcut goes through tanh; it must carry x unchanged.
"""

# Slips with a number in them, #, that is read off the answers.
SCALED = """
skip_scaled: together = # * {} + {}
    the shortcut is multiplied by #; it must carry x as it is.
branch_scaled: together = {} + # * {}
    the branch is multiplied by #; add it as it is.
weights: together = # * {} + # * {}
    the shortcut is multiplied by # and the branch by #; add both as they are.
"""

SCALED_SUM = """
sum_scaled: outer = # * ({})
    the result is multiplied by #, so that x does not get through unchanged. Only add.
"""

SCALED_NORM = """
sum_scaled: outer = norm(# * ({}))
    the sum is multiplied by # before the norm, which takes that away again only where eps does not count. Only add.
result_scaled: outer = # * norm({})
    the result is multiplied by #; the block ends with the norm.
"""

SCALED_PROJECTED = """
skip_scaled: formula = # * (x if x.shape == f(x).shape else proj(x)) + f(x)
    the shortcut is multiplied by #; add it as it is.
branch_scaled: formula = (x if x.shape == f(x).shape else proj(x)) + # * f(x)
    the branch is multiplied by #; add it as it is.
weights: formula = # * (x if x.shape == f(x).shape else proj(x)) + # * f(x)
    the shortcut is multiplied by # and the branch by #; add both as they are.
"""

SCALED_HALVES = """
skip_scaled: half = # * {u} + {f}({n}({u}))
    in {what} the shortcut is multiplied by #; it must carry the stream as it is.
branch_scaled: half = {u} + # * {f}({n}({u}))
    in {what} the branch is multiplied by #; add it as it is.
sum_scaled: half = # * ({u} + {f}({n}({u})))
    in {what} the sum is multiplied by #; only add.
weights: half = # * {u} + # * {f}({n}({u}))
    in {what} the shortcut is multiplied by # and the branch by #; add both as they are.
post_scaled: half = {n}({u} + # * {f}({u}))
    {what} is a post-norm one, and its branch is multiplied by #. Put the norm before the branch, and add the branch
    as it is.
post_scaled: half = {n}(# * {u} + {f}({u}))
    {what} is a post-norm one, and its shortcut is multiplied by #, as in DeepNorm. Put the norm before the branch, and
    add the stream as it is.
"""

JOINS = """
multiplied: together = {} * {}
    the branch is multiplied with x instead of added: that is a gate, and where the branch is 0 nothing gets
    through. Add.
subtracted: together = {} - {}
    the branch is subtracted; it is added.
concatenated: together = np.concatenate([{}, {}], axis=-1)
    x and the branch are concatenated, which doubles the width; a residual block adds them, so that the
    shape stays (a DenseNet concatenates).
concatenated: together = np.concatenate([{}, {}], axis=0)
    x and the branch are concatenated along axis 0; a residual block adds them, and the shape stays.
concatenated: together = np.stack([{}, {}])
    x and the branch are stacked; a residual block adds them.
maximum: together = np.maximum({}, {})
    the larger of the two is taken; a residual block adds them.
matrix_product: together = {} @ {}.T
    `@` takes a matrix product; a residual block adds.
divided: together = {} / {}
    x is divided by the branch; a residual block adds.
"""

MISSING = """
branch_missing: together = {} + 0 * {}
    the branch is missing, or multiplied by almost 0 (1e-5, say): only the shortcut is left. Add the branch as
    it is.
"""

OUTERS = """
averaged: outer = ({}) / 2
    the sum is halved (averaged), so that x shrinks in every block. Only add.
scaled: outer = ({}) / np.sqrt(2)
    the sum is divided by sqrt(2), so that x shrinks in every block.
activation_after: outer = np.maximum({}, 0)
    a ReLU follows the addition, so that x no longer gets through unchanged. Only add.
activation_after: outer = np.tanh({})
    a tanh follows the addition, so that x no longer gets through unchanged. Only add.
"""

RESIDUAL = """
branch_after: outer = f({})
    f is applied to the sum as well; only add.
branch_not_applied: around = {}
    f is never called: x is added to itself. Add f(x).
branch_twice: around = f(f({}))
    f is applied twice, to its own output. Once: f(x).
branch_doubled: around = 2 * f({})
    the branch is added twice; once is right.
branch_activated: around = np.maximum(f({}), 0)
    a ReLU follows the branch; add f(x) as it is.
skip_inside: inner = x + x
    the branch is given x + x; it is given x.
skip_inside: inner = x + f(x)
    the branch is applied twice, the second time to x + f(x): those are two blocks in one. Call f once, with x.
branch_activated: inner = np.maximum(x, 0)
    the branch is given relu(x); it is given x itself.
"""

PROJECTED = """
projected_always: formula = proj(x) + f(x)
    x is projected even when the shapes agree; then the shortcut should be x itself, the identity. Project
    only if `x.shape != f(x).shape`.
projected_never: formula = x + f(x)
    x is never projected where f(x) has another width: there the sum fails, or broadcasts one column silently.
    Use proj(x) where `x.shape != f(x).shape`; `len` counts rows only.
skip_missing_where_equal: formula = f(x) if x.shape == f(x).shape else proj(x) + f(x)
    where the shapes agree the shortcut is missing; add x itself.
skip_missing_where_different: formula = x + f(x) if x.shape == f(x).shape else f(x)
    where the shapes differ the shortcut is missing; add proj(x).
skip_missing: formula = f(x)
    the shortcut is missing: add x, or proj(x) where the shapes differ.
branch_missing: formula = x if x.shape == f(x).shape else proj(x)
    the branch f(x) is missing; add it.
branch_missing: formula = proj(x)
    the branch f(x) is missing; add it.
branch_missing_where_different: formula = x + f(x) if x.shape == f(x).shape else proj(x)
    where the shapes differ the branch is missing: proj(x) is returned alone. Return proj(x) + f(x).
branch_missing_where_equal: formula = x if x.shape == f(x).shape else proj(x) + f(x)
    where the shapes agree the branch is missing: x is returned alone. Return x + f(x).
projected_if_wider: formula = (proj(x) if x.shape[-1] < f(x).shape[-1] else x) + f(x)
    x is projected only where f(x) is wider; project wherever the shapes differ.
projected_if_narrower: formula = (proj(x) if x.shape[-1] > f(x).shape[-1] else x) + f(x)
    x is projected only where f(x) is narrower; project wherever the shapes differ.
projection_twice: formula = proj(proj(x)) + f(x)
    the projection is applied twice, the second time to its own result; once is right, and only where the shapes differ.
condition_inverted: formula = (proj(x) if x.shape == f(x).shape else x) + f(x)
    the condition is the wrong way round: x is projected where the shapes agree.
projection_of_branch: formula = x + (f(x) if x.shape == f(x).shape else proj(f(x)))
    where the shapes differ, proj is given what has been through f or proj already; it is given x: proj(x) + f(x).
projection_of_branch: formula = x + proj(f(x))
    the projection is applied to the branch; it is applied to x.
branch_of_projection: formula = (lambda p: p + f(p))(proj(x))
    the branch is given proj(x); give it x.
broadcast: formula = x + f(x) if f(x).shape[-1] in (1, x.shape[-1]) else proj(x) + f(x)
    where the branch gives a single column, x + f(x) broadcasts silently and keeps the wrong width. Compare
    the shapes, and use proj(x) where they differ.
both_added: formula = x + proj(x) + f(x)
    x and proj(x) are both added. Only one of them is the shortcut.
both_added: formula = x + proj(x) + f(x) if x.shape == f(x).shape else proj(x) + f(x)
    x and proj(x) are both added where the shapes agree. Only one of them is the shortcut.
cut: formula = x[..., : f(x).shape[-1]] + f(x)
    x is cut to the branch's width; use proj(x) there.
concatenated: formula = x + f(x) if x.shape == f(x).shape else np.concatenate([x, f(x)], axis=-1)
    where the shapes differ x and f(x) are concatenated; add proj(x) and f(x).
multiplied: formula = ((x if x.shape == f(x).shape else proj(x))) * f(x)
    the two are multiplied; add them.
activated: outer = np.maximum({}, 0)
    a ReLU follows the addition; return the sum as it is.
branch_activated: formula = (x if x.shape == f(x).shape else proj(x)) + np.maximum(f(x), 0)
    a ReLU follows the branch; add f(x) as it is.
skip_of_branch: formula = f(x) + f(x)
    f(x) stands where the shortcut belongs: add x, or proj(x) where the shapes differ.
shortcut_subtracted: formula = f(x) - (x if x.shape == f(x).shape else proj(x))
    the shortcut is subtracted; add it.
skip_twice: formula = 2 * (x if x.shape == f(x).shape else proj(x)) + f(x)
    the shortcut is added twice; add it once.
last_but_one_axis: formula = (x if x.shape[:2] == f(x).shape[:2] else proj(x)) + f(x)
    the condition looks at axis 1 only, which is the width for two axes but not for three: compare `x.shape` with
    `f(x).shape`.
subtracted: formula = (x if x.shape == f(x).shape else proj(x)) - f(x)
    the branch is subtracted; add it.
padded: formula = (x if x.shape == f(x).shape else np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, max(0, f(x).shape[-1] - x.shape[-1]))])) + f(x)
    x is padded with zeros where the widths differ; the exercise asks for proj(x).
"""

NORM_SKIPS = """
skip_missing: skip = 
    the shortcut is missing: x itself is not added to what the branch gives.
normalized_skip: skip = norm(x)
    the normalized value is used as the residual: the shortcut must carry x itself, un-normalized.
skip_twice: skip = 2 * x
    x is added twice, so the stream doubles in every block. Add it once.
skip_negative: skip = -x
    x is subtracted; the shortcut adds it unchanged.
skip_activated: skip = np.maximum(x, 0)
    the shortcut goes through a ReLU; it must carry x unchanged.
"""

PRE_NORM = """
skip_of_branch: skip = f(norm(x))
    the branch's result stands where the shortcut's x belongs, and x is lost. Keep x, and give the branch's
    result another name.
branch_activated: around = np.maximum(f({}), 0)
    a ReLU follows the branch; add what f gives as it is.
inner_activated: inner = np.maximum(norm(x), 0)
    norm(x) goes through a ReLU before the branch; give f norm(x) as it is.
transposed: inner = norm(x.T).T
    the norm is given x.T; it normalizes along the last axis, the features, so give it x as it is.
normalized_skip_too: skip = x + norm(x)
    norm(x) is added too; the shortcut carries x alone.
norm_missing: inner = x
    the branch is given x as it is; it should be given norm(x).
skip_inside: inner = norm(x) + x
    the skip is added inside the branch, to what f is given.
norm_twice: inner = norm(norm(x))
    x is normalized twice before the branch; once is enough.
branch_normalized: around = norm(f({}))
    the branch's output is normalized; a pre-norm block normalizes only what the branch is given.
branch_not_applied: around = {}
    f is never called.
branch_twice: around = f(f({}))
    f is applied twice; once is right.
norm_of_sum: outer = norm({})
    the sum is normalized: a pre-norm block leaves the stream alone and normalizes only what the branch is
    given.
branch_after: outer = f({})
    the skip is added inside the branch: f is applied to the sum.
"""

POST_NORM = """
skip_of_branch: skip = f(x)
    f(x) stands where the shortcut's x belongs, and x is lost. Keep x, and give f(x) another name.
activation_after: outer = np.maximum(norm({}), 0)
    a ReLU follows the norm; the block ends with the norm.
activation_after: outer = norm(np.maximum({}, 0))
    a ReLU stands between the addition and the norm; normalize the sum as it is.
branch_activated: around = np.maximum(f({}), 0)
    a ReLU follows the branch; add what f gives as it is.
inner_activated: inner = np.maximum(x, 0)
    the branch is given relu(x); it is given x itself.
transposed: outer = norm(({}).T).T
    the norm is given the sum transposed; it normalizes along the last axis, the features. Leave out `.T`.
block_again: outer = (lambda y: y + f(y))(norm({}))
    f is applied and added once more after the norm; the block ends with the norm.
norm_missing: outer = {}
    the sum is not normalized; a post-norm block ends with the norm.
norm_twice: outer = norm(norm({}))
    the sum is normalized twice: the second norm is redundant. Once.
branch_normalized: around = norm(f({}))
    the branch's output is normalized before the addition.
inner_normalized: inner = norm(x)
    the branch is given norm(x), as in a pre-norm block; a post-norm block gives it x.
skip_inside: inner = x + x
    the branch is given x + x; it is given x.
branch_not_applied: around = {}
    f is never called.
branch_twice: around = f(f({}))
    f is applied twice; once is right.
branch_after_norm: outer = f(norm({}))
    f is applied once more at the end.
skip_twice: outer = norm({}) + x
    x is added once more after the norm; the block ends with the norm.
"""

INIT = """
one_add_per_layer: formula = base_std / np.sqrt(n_layer)
    you count one residual addition for each layer; a transformer layer adds two branches (attention and
    feed-forward).
root_missing: formula = base_std / (2 * n_layer)
    the square root is missing: variances add up, so the std goes with the root of their number.
root_missing: formula = base_std / n_layer
    the square root is missing, and each layer adds two branches.
root_of_half: formula = base_std / np.sqrt(2) / n_layer
    the root covers only the 2; n_layer belongs under it too.
root_of_half: formula = base_std / np.sqrt(2) * n_layer
    the root covers only the 2, and n_layer multiplies: brackets are missing.
root_of_half: formula = base_std / np.sqrt(2) * np.sqrt(n_layer)
    sqrt(n_layer) multiplies where it must divide: brackets are missing.
two_outside_root: formula = base_std / (2 * np.sqrt(n_layer))
    the 2 stands outside the root, which counts four branches a layer; it belongs under the root.
inverted: formula = base_std * np.sqrt(2 * n_layer)
    you multiply by the root; divide, so that deep stacks start smaller.
inverted: formula = base_std * np.sqrt(n_layer)
    you multiply by the root; divide, so that deep stacks start smaller. And each layer adds two branches.
inverted: formula = np.sqrt(2 * n_layer) / base_std
    the fraction is upside down.
half_counted: formula = base_std / np.sqrt(n_layer / 2)
    the 2 is on the wrong side of the fraction: each layer adds two branches.
half_counted: formula = base_std * np.sqrt(2 / n_layer)
    you use sqrt(2 / n_layer), as in He initialization; here the 2 counts branches, so it stands below.
base_ignored: formula = 1 / np.sqrt(2 * n_layer)
    base_std is ignored: multiply by it.
base_ignored: formula = 0.02 / np.sqrt(2 * n_layer)
    the argument base_std is ignored: 0.02 is used whatever it is.
depth_ignored: formula = base_std
    n_layer is ignored: the std does not shrink with depth.
depth_ignored: formula = base_std / np.sqrt(2)
    n_layer is ignored: the std does not shrink with depth.
power_before_division: formula = base_std / (2 * n_layer) / 2
    that is what `**1/2` gives: a power comes before a division, so `a**1/2` is `(a**1) / 2`. Write `a**0.5`.
divided_in_every_layer: formula = base_std / np.sqrt(2) ** n_layer
    the std is divided by sqrt(2) once for each layer, so it falls by a power of n_layer. Variances add up: divide once, by
    the root of the number of additions.
variance: formula = base_std**2 / (2 * n_layer)
    that is the variance; return its root, the std.
base_under_root: formula = np.sqrt(base_std / (2 * n_layer))
    base_std stands under the root; it belongs outside.
off_by_one: formula = base_std / np.sqrt(2 * n_layer + 1)
    one addition too many is counted.
off_by_one: formula = base_std / np.sqrt(2 * (n_layer + 1))
    one layer too many is counted.
off_by_one: formula = base_std / np.sqrt(2 * (n_layer - 1))
    one layer too few is counted.
sum_under_root: formula = base_std / np.sqrt(n_layer + 2)
    2 is added to n_layer; each layer adds two branches, so it multiplies.
three_adds_per_layer: formula = base_std / np.sqrt(3 * n_layer)
    each layer adds two branches, not three.
fixup: formula = base_std * n_layer ** -0.25
    that is another recipe, with a fourth root; variances add up, so here it is a square root.
fixup: formula = base_std * (2 * n_layer) ** -0.25
    the root is taken twice; once is right.
fixup: formula = base_std * (8 * n_layer) ** -0.25
    that is DeepNorm's recipe, (8 n)**-0.25; here it is a square root of the number of branches.
integer_division: formula = base_std // np.sqrt(2 * n_layer)
    `//` rounds down to 0; use `/`.
"""

HALVES = """
post: half = {n}({u} + {f}({u}))
    {what} is a post-norm one: its norm comes after the addition. Put it before the branch.
normalized_skip: half = {n}({u}) + {f}({n}({u}))
    in {what} the residual is the normalized stream; the shortcut must carry the stream as it is.
after: half = {u} + {n}({f}({u}))
    in {what} the norm comes after the branch; it belongs before.
no_norm: half = {u} + {f}({u})
    in {what} the norm is missing.
no_skip: half = {f}({n}({u}))
    in {what} the shortcut is missing.
bare: half = {f}({u})
    in {what} shortcut and norm are missing.
skip_inside: half = {f}({n}({u}) + {u})
    in {what} the skip is added inside the branch.
skip_inside: half = {f}({u} + {n}({f}({u})))
    in {what} the skip is added inside the branch.
skip_twice: half = 2 * {u} + {f}({n}({u}))
    in {what} the stream is added twice.
no_branch: half = {u}
    nothing of {what} reaches the result: it is missing, or what it computed is thrown away.
norm_only: half = {u} + {n}({u})
    in {what} the function {f} is never called.
norm_alone: half = {n}({u})
    in {what} the function {f} and the shortcut are missing.
norm_of_sum_too: half = {n}({u} + {f}({n}({u})))
    in {what} the sum is normalized as well; leave the stream alone.
wrong_lane: half = {n}({u}) + {f}({u})
    in {what} the norm is on the shortcut; it belongs on the branch.
norm_of_branch_too: half = {u} + {n}({f}({n}({u})))
    in {what} the branch's output is normalized as well.
twice: half = {u} + {f}({f}({n}({u})))
    in {what} {f} is applied twice.
multiplied: half = {u} * {f}({n}({u}))
    in {what} the branch is multiplied instead of added.
skip_of_branch: half = {f}({n}({u})) + {f}({n}({u}))
    in {what} the branch's result stands where the shortcut's stream belongs, which is lost. Keep the stream,
    and give the branch's result another name.
activated: half = np.maximum({u} + {f}({n}({u})), 0)
    in {what} a ReLU follows the addition; only add.
branch_activated: half = {u} + np.maximum({f}({n}({u})), 0)
    in {what} a ReLU follows the branch; add what {f} gives as it is.
inner_activated: half = {u} + {f}(np.maximum({n}({u}), 0))
    in {what} a ReLU follows the norm; give {f} the norm's result as it is.
transposed: half = {u} + {f}({n}({u}.T).T)
    in {what} the norm is given the stream transposed; it normalizes along the last axis, the features. Leave out `.T`.
subtracted: half = {u} - {f}({n}({u}))
    in {what} the branch is subtracted instead of added.
"""

TRANSFORMER = """
parallel_normalized: flow = (lambda n: n + attn(n) + ffn({n2}(n)))({n1}(x))
    both halves and the shortcut start from the normalized x. The shortcut must carry x as it is, and the second half must
    start from what the first gave.
parallel_normalized: flow = (lambda n: n + attn(n) + ffn(n))({n1}(x))
    both halves and the shortcut start from the normalized x. The shortcut must carry x as it is, and the second half must
    start from what the first gave, with its own norm.
parallel: flow = x + attn({n1}(x)) + ffn({n2}(x))
    the two halves run in parallel, both from x; the second must start from what the first gave.
parallel_one_norm: flow = x + attn({n1}(x)) + ffn({n1}(x))
    the two halves run in parallel on one normalized x; the second must start from what the first gave, with
    its own norm.
tokens_exchanged: first = {u} + {f}({n}({u}).swapaxes(0, 1)).swapaxes(0, 1)
    attention runs over the batch: its axes were exchanged. It is given (batch, tokens, d) and looks along the tokens.
tokens_flattened: first = {u} + {f}({n}({u}).reshape(-1, {u}.shape[-1])).reshape({u}.shape)
    batch and tokens are made one axis before attention, so that one sequence looks at another. Give it (batch, tokens, d).
second_skip_of_x: flow = x + ffn({n2}(h))
    the second shortcut carries the block's input x: what attention added is lost from the stream. It must
    carry the result of the first half.
normed_input_again: flow = x + attn({n1}(x)) + ffn({n2}({n1}(x)))
    the second half is given the normalized x of the first half once more; it must be given the normalized result of
    the first half.
skip_at_the_end_too: flow = x + {second}
    x is added once more at the end; each half has its own shortcut already.
one_skip_over_both: flow = x + ffn({n2}(attn({n1}(x))))
    one shortcut spans both halves; each half has its own.
attention_only_to_ffn: flow = x + attn({n1}(x)) + ffn({n2}(attn({n1}(x))))
    the feed-forward network is given only what attention returned, without the stream.
normed_again: flow = {n1}({second})
    the block's result is normalized; a pre-norm block leaves the stream alone.
norms_swapped: norms = ('norm2', 'norm1')
    the two norms are swapped: norm1 belongs to attention, norm2 to the feed-forward network.
norm_reused: norms = ('norm1', 'norm1')
    norm1 is used twice; the second half has norm2.
norm_reused: norms = ('norm2', 'norm2')
    norm2 is used twice; the first half has norm1.
order_swapped: order = ('ffn', 'attn')
    the feed-forward network comes first; attention comes first, then the feed-forward network.
branch_reused: order = ('attn', 'attn')
    attention is applied twice; the second half has ffn.
branch_reused: order = ('ffn', 'ffn')
    ffn is applied twice; the first half has attn.
"""

STACK = """
final_norm_missing: final = missing
    the final norm is missing: in a pre-norm stack the stream has grown by then, so one last norm follows.
final_norm_every_block: final = every block
    the final norm is applied after every block; it comes once, after the last one.
final_norm_first: final = first
    the final norm is applied at the start; it comes once, after the last block.
final_norm_first: final = first too
    the final norm is applied at the start as well; it comes once, after the last block.
final_norm_before_last: final = before last
    the final norm is applied before the last block; it comes after it.
first_norm_at_the_start: final = own first
    the first norm is applied to the stream at the start as well; the norms stand before the branches only.
final_norm_twice: final = twice
    the final norm is applied twice; once is enough.
final_norm_last_of_norms: final = last of norms
    the last block's norm is used at the end; `final_norm` is the one that follows.
final_norm_added: final = added
    the stream is added to its own normalized copy; return final_norm(x).
final_norm_of_branches: final = of branches
    the input is added after the final norm; the norm comes last.
final_norm_after_first: final = after first
    the final norm is applied after the first block: is it (or the `return`) inside the loop?
blocks_all_but_last: which = all but last
    the last block is left out: the loop ends one too early.
blocks_all_but_first: which = all but first
    the first block is left out: the loop starts one too late.
blocks_first: which = first
    only the first block is applied: is the `return` inside the loop?
blocks_last: which = last
    only the last block counts: each block must start from the result of the one before.
blocks_twice: which = twice
    all blocks are applied twice.
from_the_input: source = from the input
    every block starts from the first x: what it adds is summed up, but no block sees what the others did.
    Start each from the result of the one before.
skip_of_input: source = skip of input
    the shortcut of each block carries the first x; it must carry the stream as it is by then.
input_missing: source = without input
    the input is missing from the sum: only what the branches give is normalized at the end. The stream starts as x.
branches_scaled: source = scaled
    what each block adds is divided by the root of the number of blocks; add it as it is.
input_in_every_block: source = input in every block
    the first x is added once more in every block; each block adds only its branch to the stream.
branches_averaged: source = averaged
    what each block adds is divided by the number of blocks; add it as it is.
one_skip: source = one skip
    there is a single shortcut around the whole stack; each block has its own.
input_added: source = input added
    the first x is added once more at the end.
order_reversed: both_orders = reversed
    the blocks are applied in reverse; the first one comes first.
norms_reversed: norms_order = reversed
    the norms are taken in reverse: block i has norms[i].
norm_reused: norms_order = first
    the first norm is used in every block: block i has norms[i].
norm_reused: norms_order = last
    the last norm is used in every block: block i has norms[i].
norm_reused: norms_order = final
    the final norm is used in every block: block i has norms[i], and `final_norm` follows the last one.
norms_shifted: norms_order = shifted back
    the norms are off by one (norms[i - 1]): block i has norms[i].
norms_shifted: norms_order = shifted
    the norms are off by one: block i has norms[i].
fs_reversed: fs_order = reversed
    the branches are taken in reverse: block i has fs[i].
branch_reused: fs_order = first
    the first branch is used in every block: block i has fs[i].
branch_reused: fs_order = last
    the last branch is used in every block: block i has fs[i].
fs_shifted: fs_order = shifted
    the branches are off by one: block i has fs[i].
"""
