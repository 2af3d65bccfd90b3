"""The layers against the ONNX reference operators and finite differences."""

import functools
import warnings

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

from helpers import layers


def onnx_operator(name, inputs, outputs=1, opset=23, **attributes):
    """One ONNX operator run by the reference implementation, on float64 arrays."""
    kinds = {np.dtype(np.float64): onnx.TensorProto.DOUBLE}
    names = [f"i{n}" for n in range(len(inputs))]
    results = [f"o{n}" for n in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(name, names, results, **attributes)],
        "one",
        [helper.make_tensor_value_info(n, kinds[v.dtype], v.shape) for n, v in zip(names, inputs)],
        [helper.make_tensor_value_info(n, onnx.TensorProto.DOUBLE, None) for n in results],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))


def numbers(*shape, seed=0):
    """Rows that differ in mean and in spread."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * rng.uniform(0.5, 3, (*shape[:-1], 1)) + rng.uniform(
        -2, 2, (*shape[:-1], 1)
    )


SHAPES = [(5,), (4, 6), (1, 6), (5, 5), (2, 3, 4), (2, 3, 2, 7)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_layer_norm_is_the_onnx_operator(shape, eps):
    x, gamma, beta = numbers(*shape), numbers(shape[-1], seed=1), numbers(shape[-1], seed=2)
    (expected,) = onnx_operator("LayerNormalization", [x, gamma, beta], axis=-1, epsilon=eps)
    np.testing.assert_allclose(layers.layer_norm(x, gamma, beta, eps), expected, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm_is_the_onnx_operator(shape):
    x, gamma = numbers(*shape), numbers(shape[-1], seed=1)
    (expected,) = onnx_operator("RMSNormalization", [x, gamma], axis=-1, epsilon=1e-6)
    np.testing.assert_allclose(layers.rms_norm(x, gamma), expected, atol=1e-7)


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 4, 4)])
def test_batch_norm_in_evaluation_is_the_onnx_operator(shape):
    x = numbers(*shape)
    gamma, beta, mean = (numbers(3, seed=s) for s in (1, 2, 3))
    var = np.array([0.5, 1.0, 2.0])
    (expected,) = onnx_operator("BatchNormalization", [x, gamma, beta, mean, var], opset=15, epsilon=1e-5)
    y, new_mean, new_var = layers.batch_norm(x, gamma, beta, mean, var, training=False)
    np.testing.assert_allclose(y, expected, atol=1e-7)
    np.testing.assert_array_equal((new_mean, new_var), (mean, var))


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 4, 4)])
def test_batch_norm_in_training_is_the_onnx_operator_in_its_conventions(shape):
    """ONNX weighs the old value by its momentum and keeps the biased variance; we do as PyTorch does."""
    x = numbers(*shape)
    gamma, beta, mean = (numbers(3, seed=s) for s in (1, 2, 3))
    var = np.array([0.5, 1.0, 2.0])
    expected, onnx_mean, onnx_var = onnx_operator(
        "BatchNormalization", [x, gamma, beta, mean, var], 3, 15, epsilon=1e-5, momentum=0.5, training_mode=1
    )
    y, new_mean, new_var = layers.batch_norm(x, gamma, beta, mean, var, training=True, momentum=0.5)
    n = x.size / 3
    np.testing.assert_allclose(y, expected, atol=1e-7)
    np.testing.assert_allclose(new_mean, onnx_mean, atol=1e-12)
    np.testing.assert_allclose((new_var - 0.5 * var) * (n - 1) / n, onnx_var - 0.5 * var, atol=1e-12)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(4, 6), (3, 6, 5), (2, 6, 4, 4)])
def test_group_norm_is_the_onnx_operator(shape, groups):
    x, gamma, beta = numbers(*shape), numbers(6, seed=1), numbers(6, seed=2)
    kind = {"num_groups": groups, "epsilon": 1e-5, "stash_type": onnx.TensorProto.DOUBLE}
    (expected,) = onnx_operator("GroupNormalization", [x, gamma, beta], **kind)
    np.testing.assert_allclose(layers.group_norm(x, gamma, beta, groups), expected, atol=1e-7)


@pytest.mark.parametrize("z", [numbers(7), numbers(3, 4)], ids=["1-D", "2-D"])
def test_activations_are_the_onnx_operators(z):
    for name, f, attributes in (
        ("Tanh", layers.tanh, {}),
        ("Relu", layers.relu, {}),
        ("Gelu", layers.gelu, {"approximate": "tanh"}),
    ):
        np.testing.assert_allclose(f(z), onnx_operator(name, [z], **attributes)[0], rtol=1e-6)


@functools.cache
def all_cases():
    with warnings.catch_warnings():  # some cases overflow or divide by zero on purpose
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def published(operator):
    """The test vectors that ONNX publishes for an operator: (name, attributes, inputs, outputs)."""
    for case in all_cases():
        node = case.model.graph.node[0]
        if len(case.model.graph.node) == 1 and node.op_type == operator:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            for inputs, outputs in case.data_sets:
                yield case.name, attributes, inputs, outputs


def our_answer(operator, attributes, inputs):
    """What our function gives for a published case, or None where the case is not ours (another axis)."""
    x, *rest = inputs
    if operator in ("LayerNormalization", "RMSNormalization"):
        if attributes.get("axis", -1) not in (-1, x.ndim - 1):
            return None
        norm = layers.layer_norm if operator == "LayerNormalization" else layers.rms_norm
        return norm(x, *rest, eps=attributes.get("epsilon", 1e-5))
    if operator == "BatchNormalization":
        gamma, beta, mean, var = rest
        training = bool(attributes.get("training_mode", 0))
        return layers.batch_norm(x, gamma, beta, mean, var, training, eps=attributes.get("epsilon", 1e-5))[0]
    if operator == "Gelu" and attributes.get("approximate") != b"tanh":
        return None
    return {"Gelu": layers.gelu, "Tanh": layers.tanh, "Relu": layers.relu}[operator](x)


@pytest.mark.parametrize(
    ("operator", "at_least"),
    [
        ("LayerNormalization", 4),
        ("RMSNormalization", 4),
        ("BatchNormalization", 4),
        ("Gelu", 2),
        ("Tanh", 2),
        ("Relu", 1),
    ],
)
def test_published_onnx_vectors(operator, at_least):
    compared = 0
    for name, attributes, inputs, outputs in published(operator):
        answer = our_answer(operator, attributes, inputs)
        if answer is not None:
            np.testing.assert_allclose(answer, outputs[0], rtol=1e-3, atol=1e-5, err_msg=name)
            compared += 1
    assert compared >= at_least


# ------------------------------------------------------------------------------ gradients


def numerical_gradient(f, x, h=1e-5):
    """dL/dx of the number f(x) by central differences of fourth order."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        near, far = f(x + step) - f(x - step), f(x + 2 * step) - f(x - 2 * step)
        gradient[i] = (8 * near - far) / (12 * h)
    return gradient


def relative_error(a, b):
    return np.abs(a - b).max() / max(np.abs(a).max(), np.abs(b).max(), 1e-8)


def make(kind):
    """A layer whose parameters are not what they start as, and an input that fits it."""
    rng = np.random.default_rng(3)
    layer, x = {
        "Linear": lambda: (layers.Linear(4, 3, rng), numbers(5, 4)),
        "Linear, 3-D": lambda: (layers.Linear(4, 3, rng), numbers(2, 3, 4)),
        "tanh": lambda: (layers.Activation("tanh"), numbers(5, 4)),
        "relu": lambda: (layers.Activation("relu"), numbers(5, 4)),
        "gelu": lambda: (layers.Activation("gelu"), numbers(5, 4)),
        "linear": lambda: (layers.Activation("linear"), numbers(5, 4)),
        "LayerNorm": lambda: (layers.LayerNorm(4), numbers(5, 4)),
        "LayerNorm, square": lambda: (layers.LayerNorm(4), numbers(4, 4)),
        "LayerNorm, 3-D": lambda: (layers.LayerNorm(4), numbers(2, 3, 4)),
        "RMSNorm": lambda: (layers.RMSNorm(4), numbers(5, 4)),
        "RMSNorm, 3-D": lambda: (layers.RMSNorm(4), numbers(2, 3, 4)),
        "BatchNorm": lambda: (layers.BatchNorm(4), numbers(5, 4)),
        "BatchNorm, 4-D": lambda: (layers.BatchNorm(4), numbers(2, 4, 3, 2)),
        "GroupNorm": lambda: (layers.GroupNorm(6, groups=3), numbers(5, 6)),
        "GroupNorm, 4-D": lambda: (layers.GroupNorm(4, groups=2), numbers(2, 4, 3, 2)),
        "Residual": lambda: (layers.Residual(layers.Linear(4, 4, rng), 0.7), numbers(5, 4)),
        "pre_norm": lambda: (layers.pre_norm(layers.Linear(4, 4, rng), layers.LayerNorm(4)), numbers(5, 4)),
        "post_norm": lambda: (
            layers.post_norm(layers.Linear(4, 4, rng), layers.RMSNorm(4), 0.5),
            numbers(5, 4),
        ),
        "Sequential": lambda: (
            layers.Sequential(layers.Linear(4, 6, rng), layers.Activation("gelu"), layers.Linear(6, 2, rng)),
            numbers(5, 4),
        ),
    }[kind]()
    for part in all_layers(layer):
        for name in part.parameters:
            value = getattr(part, name)
            setattr(part, name, value + rng.uniform(0.2, 0.8, value.shape))
    return layer, x


def all_layers(layer):
    yield layer
    for inner in (*getattr(layer, "layers", ()), *filter(None, [getattr(layer, "branch", None)])):
        yield from all_layers(inner)


KINDS = [
    "Linear", "Linear, 3-D", "tanh", "relu", "gelu", "linear", "LayerNorm", "LayerNorm, square",
    "LayerNorm, 3-D", "RMSNorm", "RMSNorm, 3-D", "BatchNorm", "BatchNorm, 4-D", "GroupNorm",
    "GroupNorm, 4-D", "Residual", "pre_norm", "post_norm", "Sequential",
]  # fmt: skip


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_backward_is_the_derivative_of_forward(kind, training):
    layer, x = make(kind)
    if isinstance(layer, layers.BatchNorm):
        layer.running_mean, layer.running_var = numbers(4, seed=7), np.array([0.3, 1.0, 2.0, 0.7])
        layer.training = training
    dy = np.random.default_rng(5).standard_normal(layer(x).shape)
    layer(x)
    assert relative_error(layer.backward(dy), numerical_gradient(lambda v: (layer(v) * dy).sum(), x)) <= 1e-7
    layer(x), layer.backward(dy)
    for part in all_layers(layer):
        for name in part.parameters:
            kept, measured = getattr(part, name), getattr(part, "d" + name).copy()

            def loss(value, part=part, name=name):
                setattr(part, name, value)
                return (layer(x) * dy).sum()

            expected = numerical_gradient(loss, kept)
            setattr(part, name, kept)
            assert relative_error(measured, expected) <= 1e-7, name


@pytest.mark.parametrize("residual", [False, True])
def test_backprop_chain_is_the_derivative_of_the_stack(residual):
    rng = np.random.default_rng(0)
    x, Ws, dout = (
        rng.standard_normal((3, 4)),
        [rng.standard_normal((4, 4)) / 2 for _ in range(3)],
        numbers(3, 4),
    )

    def loss(h, Ws):
        for W in Ws:
            h = np.tanh(h @ W) + (h if residual else 0)
        return (h * dout).sum()

    dhs, dWs = layers.backprop_chain(x, Ws, dout, residual)
    assert len(dhs) == 4 and dhs[-1] is dout
    assert relative_error(dhs[0], numerical_gradient(lambda v: loss(v, Ws), x)) <= 1e-7
    for i in range(3):
        numeric = numerical_gradient(lambda v, i=i: loss(x, [*Ws[:i], v, *Ws[i + 1 :]]), Ws[i])
        assert relative_error(dWs[i], numeric) <= 1e-7


def test_residual_backward_is_the_derivative_of_the_block():
    x, W, dy = numbers(3, 4), numbers(4, 4, seed=1), numbers(3, 4, seed=2)
    dx, dW = layers.residual_backward(dy, x, W)
    assert relative_error(dx, numerical_gradient(lambda v: ((v + np.tanh(v @ W)) * dy).sum(), x)) <= 1e-7
    assert relative_error(dW, numerical_gradient(lambda v: ((x + np.tanh(x @ v)) * dy).sum(), W)) <= 1e-7


# ------------------------------------------------------------------------------ conventions


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=9).filter(lambda v: np.std(v) > 1e-2))
def test_a_normalized_row_has_mean_0_and_std_1(values):
    y = layers.layer_norm(np.array(values), np.ones(len(values)), np.zeros(len(values)), eps=0)
    assert abs(y.mean()) < 1e-9 and abs(y.std() - 1) < 1e-9


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_statistics_are_float64_and_the_result_has_the_input_dtype(dtype):
    x = (1000 + np.arange(16) * 0.5).astype(dtype)
    one, zero = np.ones(16, dtype), np.zeros(16, dtype)
    for y in (layers.layer_norm(x, one, zero), layers.rms_norm(x, one)):
        assert y.dtype == dtype
    assert layers.layer_norm(x, one, zero).astype(float).std() == pytest.approx(1, rel=1e-3)
    assert layers.layer_norm(np.arange(4), np.ones(4), np.zeros(4)).dtype == np.float64


def test_nothing_changes_its_arguments():
    x, gamma, beta = numbers(4, 6), numbers(6), numbers(6)
    mask = np.array([[True, False], [True, True]])
    calls = [
        (layers.layer_norm, (x, gamma, beta)),
        (layers.layer_norm_backward, (x, x, gamma)),
        (layers.rms_norm, (x, gamma)),
        (layers.rms_norm_offset, (x, gamma)),
        (layers.rms_norm_backward, (x, x, gamma)),
        (layers.batch_norm, (x, gamma, beta, gamma, gamma**2, True)),
        (layers.batch_norm_backward, (x, x, gamma)),
        (layers.masked_batch_norm, (numbers(2, 2, 6), mask, gamma, beta)),
        (layers.residual_block, (x, np.tanh)),
        (layers.residual_backward, (x, x, numbers(6, 6))),
    ]
    for f, arguments in calls:
        before = [np.array(a, copy=True) if isinstance(a, np.ndarray) else a for a in arguments]
        f(*arguments)
        for old, new in zip(before, arguments):
            if isinstance(old, np.ndarray):
                np.testing.assert_array_equal(old, new, err_msg=f.__name__)


def test_batch_norm_of_one_value_per_channel_is_an_error_in_training_only():
    arguments = np.ones((1, 3)), np.ones(3), np.zeros(3), np.zeros(3), np.ones(3)
    with pytest.raises(ValueError, match="more than one value per channel.*\\(1, 3\\).*larger batch"):
        layers.batch_norm(*arguments, training=True)
    layers.batch_norm(*arguments, training=False)


def test_masked_batch_norm_is_batch_norm_of_the_real_tokens():
    x, mask = numbers(3, 4, 5), np.random.default_rng(0).random((3, 4)) < 0.6
    gamma, beta = numbers(5, seed=1), numbers(5, seed=2)
    y = layers.masked_batch_norm(x, mask, gamma, beta)
    expected, *_ = layers.batch_norm(x[mask], gamma, beta, np.zeros(5), np.ones(5), training=True)
    np.testing.assert_allclose(y[mask], expected, atol=1e-12)
    assert (y[~mask] == 0).all()


def test_batch_norm_learns_its_running_statistics_and_uses_them_in_evaluation():
    layer, rng = layers.BatchNorm(2), np.random.default_rng(0)
    for _ in range(200):
        layer(rng.normal([1, -2], [2, 0.5], (64, 2)))
    np.testing.assert_allclose(layer.running_mean, [1, -2], atol=0.3)
    np.testing.assert_allclose(layer.running_var, [4, 0.25], rtol=0.25)
    layer.training = False
    x = np.array([[1.0, -2.0]])
    np.testing.assert_allclose(layer(x), (x - layer.running_mean) / np.sqrt(layer.running_var + 1e-5))


def test_worked_numbers_of_the_lesson():
    y = layers.layer_norm([2.0, -3, 1, 4], np.full(4, 2.0), np.full(4, 0.5), 1e-6)
    np.testing.assert_allclose(y, [1.284465, -2.637858, 0.5, 2.853394], atol=1e-6)


def test_defaults_of_the_classes():
    assert (layers.LayerNorm(3).eps, layers.RMSNorm(3).eps) == (1e-5, 1e-6)
    assert (layers.BatchNorm(3).eps, layers.BatchNorm(3).momentum) == (1e-5, 0.1)
