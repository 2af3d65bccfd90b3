"""Attention and the transformer block: against loops, finite differences, ONNX and, where it is installed, PyTorch."""

import numpy as np
import pytest

from helpers import layers
from helpers.experiments import leaves

from .test_layers import numbers, numerical_gradient, onnx_operator, relative_error

BLOCKS = [(norm, post) for norm in (layers.LayerNorm, layers.RMSNorm) for post in (False, True)]
MASKS = {
    "none": None,
    "causal": layers.causal_mask(3),
    "one a sequence": np.array([[[1, 0, 0], [1, 1, 0], [0, 1, 1]], [[1, 1, 1], [0, 1, 0], [1, 0, 0]]], bool),
    "padding": np.array([[[1, 1, 0]], [[1, 1, 1]]], bool),
}


def shaken(layer, seed=3):
    """The layer with every parameter moved, so that no gamma is 1 and no bias 0."""
    rng = np.random.default_rng(seed)
    for leaf in leaves(layer):
        for name in leaf.parameters:
            value = getattr(leaf, name)
            setattr(leaf, name, value + rng.uniform(0.1, 0.5, value.shape))
    return layer


def check_gradients(layer, x, *mask):
    """Of x and of every parameter, against finite differences."""
    dy = np.random.default_rng(5).standard_normal(layer(x, *mask).shape)
    measured = layer.backward(dy)
    gradients = {
        (leaf, name): getattr(leaf, "d" + name) for leaf in leaves(layer) for name in leaf.parameters
    }
    expected = numerical_gradient(lambda v: (layer(v, *mask) * dy).sum(), x, 1e-4)
    assert relative_error(measured, expected) <= 1e-7
    for (leaf, name), gradient in gradients.items():
        kept = getattr(leaf, name)

        def loss(value, leaf=leaf, name=name):
            setattr(leaf, name, value)
            return (layer(x, *mask) * dy).sum()

        expected = numerical_gradient(loss, kept, 1e-4)
        setattr(leaf, name, kept)
        # A bias of the keys shifts a row's scores alike, and softmax does not mind: its gradient is 0.
        if leaf is getattr(getattr(layer, "attn", layer), "k", None) and name == "b":
            assert np.abs(gradient).max() < 1e-12
        else:
            assert relative_error(gradient, expected) <= 1e-7, (type(leaf).__name__, name)


# ------------------------------------------------------------------------------ forward


def test_softmax_is_the_onnx_operator_and_does_not_overflow():
    z = numbers(2, 3, 5)
    np.testing.assert_allclose(layers.softmax(z), onnx_operator("Softmax", [z], axis=-1)[0], rtol=1e-6)
    np.testing.assert_array_equal(layers.softmax(np.array([1000.0, 1000.0])), [0.5, 0.5])
    np.testing.assert_array_equal(layers.softmax(np.array([0.0, -np.inf])), [1, 0])


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("mask", MASKS)
def test_heads_are_what_loops_over_tokens_and_heads_give(n_heads, mask):
    attn, x = shaken(layers.MultiHeadAttention(6, n_heads, np.random.default_rng(0))), numbers(2, 3, 6)
    y, d = attn(x, MASKS[mask]), 6 // n_heads
    allowed = np.broadcast_to(True if MASKS[mask] is None else MASKS[mask], (2, 3, 3))
    for b in range(2):
        q, k, v = (x[b] @ layer.W + layer.b for layer in (attn.q, attn.k, attn.v))
        heads = np.zeros((3, 6))
        for h in range(n_heads):
            part = slice(h * d, (h + 1) * d)
            for i in range(3):
                seen = [j for j in range(3) if allowed[b, i, j]]
                weights = np.exp([q[i, part] @ k[j, part] / np.sqrt(d) for j in seen])
                weights /= weights.sum()
                heads[i, part] = sum(w * v[j, part] for w, j in zip(weights, seen))
                np.testing.assert_allclose(attn.weights[b, h, i, seen], weights, rtol=1e-12)
        np.testing.assert_allclose(y[b], heads @ attn.out.W + attn.out.b, atol=1e-12)
    np.testing.assert_array_equal(attn.weights[~np.broadcast_to(allowed[:, None], attn.weights.shape)], 0)


@pytest.mark.parametrize(("norm", "post"), BLOCKS)
def test_a_block_is_the_two_lines_of_the_lesson(norm, post):
    block, x, mask = (
        layers.TransformerBlock(6, 2, 12, norm=norm, post=post),
        numbers(2, 3, 6),
        MASKS["causal"],
    )
    attn = lambda h: block.attn(h, mask)  # noqa: E731
    if post:
        h = layers.post_norm_block(x, attn, block.ln1)
        expected = layers.post_norm_block(h, block.ffn, block.ln2)
    else:
        expected = layers.transformer_block(x, attn, block.ffn, block.ln1, block.ln2)
    np.testing.assert_array_equal(block(x, mask), expected)


@pytest.mark.parametrize("shape", [(3, 6), (2, 3, 6), (2, 2, 3, 6)])
def test_any_leading_axes(shape):
    block, x = layers.TransformerBlock(6, 2, 12), numbers(*shape)
    y = block(x, MASKS["causal"])
    alone = [layers.TransformerBlock(6, 2, 12)(rows, MASKS["causal"]) for rows in x.reshape(-1, 3, 6)]
    np.testing.assert_allclose(y.reshape(-1, 3, 6), alone, atol=1e-12)
    assert block.backward(y).shape == shape


@pytest.mark.parametrize("post", [False, True])
@pytest.mark.parametrize("moved", range(6))
def test_with_a_causal_mask_nothing_earlier_changes(post, moved):
    block, x = layers.TransformerBlock(8, 4, 16, post=post), numbers(1, 6, 8)
    other = x.copy()
    other[0, moved] += numbers(8, seed=1)  # not a constant: LayerNorm would take it away
    for mask, first in ((layers.causal_mask(6), moved), (None, 0)):
        changed = np.abs(block(other, mask) - block(x, mask)).max(axis=-1)[0] > 0
        np.testing.assert_array_equal(changed, np.arange(6) >= first)


def test_without_a_mask_attention_does_not_know_the_order():
    block, x, order = layers.TransformerBlock(6, 2, 12), numbers(4, 6), [2, 0, 3, 1]
    np.testing.assert_allclose(block(x[order]), block(x)[order], atol=1e-12)


def test_blocks_with_the_same_generator_state_are_equal_and_nothing_is_changed():
    x = numbers(2, 3, 6)
    kept = x.copy()
    one, other = (layers.TransformerBlock(6, 2, 12, np.random.default_rng(7))(x) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(x, kept)


# ------------------------------------------------------------------------------ backward


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_attention_backward_is_the_derivative(n_heads, mask):
    attn = shaken(layers.MultiHeadAttention(6, n_heads, np.random.default_rng(0)))
    check_gradients(attn, numbers(2, 3, 6), MASKS[mask])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_feed_forward_backward_is_the_derivative(activation):
    check_gradients(shaken(layers.FeedForward(4, 7, np.random.default_rng(0), activation)), numbers(2, 3, 4))


@pytest.mark.parametrize(("norm", "post"), BLOCKS)
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_block_backward_is_the_derivative(norm, post, mask):
    check_gradients(
        shaken(layers.TransformerBlock(4, 2, 6, norm=norm, post=post)), numbers(2, 3, 4), MASKS[mask]
    )


@pytest.mark.parametrize(("norm", "post"), BLOCKS)
def test_block_is_what_pytorch_computes(norm, post):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    block, x = shaken(layers.TransformerBlock(8, 2, 12, norm=norm, post=post)), numbers(2, 3, 8)
    dy = numbers(2, 3, 8, seed=4)
    t = {
        (leaf, name): torch.tensor(getattr(leaf, name), requires_grad=True)
        for leaf in leaves(block) for name in leaf.parameters
    }  # fmt: skip
    linear = lambda layer, h: h @ t[layer, "W"] + t[layer, "b"]  # noqa: E731
    split = lambda h: h.reshape(2, 3, 2, 4).transpose(1, 2)  # noqa: E731

    def normalize(layer, h):
        if norm is layers.RMSNorm:
            return torch.nn.functional.rms_norm(h, (8,), t[layer, "gamma"], layer.eps)
        return torch.nn.functional.layer_norm(h, (8,), t[layer, "gamma"], t[layer, "beta"], layer.eps)

    def attn(h):
        heads = (split(linear(layer, h)) for layer in block.attn.layers[:3])
        y = torch.nn.functional.scaled_dot_product_attention(*heads, torch.tensor(MASKS["causal"]))
        return linear(block.attn.out, y.transpose(1, 2).reshape(2, 3, 8))

    def ffn(h):
        return linear(block.ffn.layers[2], torch.relu(linear(block.ffn.layers[0], h)))

    tx = torch.tensor(x, requires_grad=True)
    if post:
        h = normalize(block.ln1, tx + attn(tx))
        ty = normalize(block.ln2, h + ffn(h))
    else:
        h = tx + attn(normalize(block.ln1, tx))
        ty = h + ffn(normalize(block.ln2, h))
    ty.backward(torch.tensor(dy))
    np.testing.assert_allclose(block(x, MASKS["causal"]), ty.detach(), atol=1e-12)
    np.testing.assert_allclose(block.backward(dy), tx.grad, atol=1e-12)
    for (leaf, name), value in t.items():
        np.testing.assert_allclose(getattr(leaf, "d" + name), value.grad, atol=1e-12)


# ------------------------------------------------------------------------------ what learners are told


@pytest.mark.parametrize("n_heads", [0, 4, 7])
def test_heads_must_divide_the_width(n_heads):
    with pytest.raises(ValueError, match=f"6 cannot be split among {n_heads} heads"):
        layers.TransformerBlock(6, n_heads, 12)


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        (layers.causal_mask(4), r"for each of the 3 tokens, \(..., 3, 3\); its shape is \(4, 4\)"),
        (np.ones((2, 4), bool), r"its shape is \(2, 4\)"),
        (np.zeros((3, 3)), "True .may look. or False; its entries are float64"),
        (~layers.causal_mask(3), "token 3 may look at nothing"),
        (np.zeros((2, 1, 3), bool), "token 1 may look at nothing"),
    ],
)
def test_a_mask_that_cannot_be_used_is_told(mask, told):
    with pytest.raises(ValueError, match=told):
        layers.TransformerBlock(6, 2, 12)(numbers(2, 3, 6), mask)
