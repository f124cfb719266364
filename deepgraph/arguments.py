"""Arguments: what a call got wrong, and numbers that layers and optimisers check when made."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deepgraph.errors import ArgumentError, DomainError

_ELSEWHERE = {  # what other libraries call an argument; one of these may be its name here
    "a": "x", "input": "x arrays logits", "tensors": "arrays", "dim": "axis", "dims": "axis axes",
    "axes": "axis", "keepdim": "keepdims", "keep_dims": "keepdims", "unbiased": "correction",
    "other": "y", "x1": "x", "x2": "y", "index": "indices", "negative_slope": "slope",
    "learning_rate": "lr", "beta1": "betas", "beta2": "betas", "beta_1": "betas",
    "beta_2": "betas", "beta": "momentum", "epsilon": "eps", "rho": "alpha",
    "decay": "weight_decay",
    "units": "n_out", "out_features": "n_out", "in_features": "n_out", "n_in": "n_out",
    "out_channels": "filters", "in_channels": "filters", "n_filters": "filters",
    "kernel_size": "kernel", "filter_size": "kernel", "strides": "stride", "pad": "padding",
    "pool_size": "window", "win_shape": "window", "dilation_rate": "dilation",
    "use_bias": "bias", "kernel_initializer": "init", "weight_init": "init",
    "bias_initializer": "bias", "p": "rate", "prob": "rate", "start_dim": "start_axis",
    "num_embeddings": "n", "input_dim": "n", "embedding_dim": "size", "output_dim": "size",
    "num_classes": "classes", "depth": "classes", "normalized_shape": "n_axes",
    "elementwise_affine": "affine", "prediction": "predictions", "pred": "predictions logits",
    "target": "targets", "labels": "targets", "label": "targets", "y_true": "targets",
    "y_pred": "predictions logits", "from_logits": "logits", "params": "parameters",
    "max_norm": "clip_norm",
}  # fmt: skip


def misfit(
    signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ArgumentError | None:
    """What is wrong with the arguments of a call, and what to write instead; None if nothing is."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        known = [p for p in signature.parameters if p != "self"]
        wrong = next((k for k in kwargs if k not in signature.parameters), "")
        meant = [k for k in _ELSEWHERE.get(wrong, "").split() if k in known]
        meant = meant or difflib.get_close_matches(wrong, known, 1)
        hint = f"write {meant[0]}=" if meant else f"it takes {', '.join(known) or 'none'}"
        return ArgumentError(f"{error}: {hint}")
    return None


def whole(name: str, value: Any, least: int | None = 1) -> int:
    """The value, if it is a whole number, and `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentError(f"{name} is a whole number: got {value!r}")
    if least is not None and value < least:
        raise DomainError(f"{name} is {least} or more: got {value}")
    return int(value)


def number(name: str, value: Any, within: str) -> float:
    """The value, if it is a number in an interval such as "[0, 1)"."""
    if isinstance(value, np.ndarray) and not value.shape:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ArgumentError(f"{name} is a number in {within}: got {value!r}")
    low, high = map(float, within[1:-1].split(","))
    above = value >= low if within[0] == "[" else value > low
    below = value <= high if within[-1] == "]" else value < high
    if not (above and below):
        raise DomainError(f"{name} is a number in {within}: got {value}")
    return float(value)


def call_text(made: object, shown: Callable[[Any], str | None] = repr) -> str:
    """`Dense(100)`: how an object was made, of arguments that it keeps under their names.

    Those that are the defaults are left out, and those of which `shown` gives None.
    """
    texts = []
    for name, p in inspect.signature(type(made)).parameters.items():
        kept = vars(made).get(name, vars(made).get(f"_{name}", p.default))
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or kept is p.default:
            continue
        text = shown(kept)
        if text is None or (p.default is not p.empty and text == shown(p.default)):
            continue
        texts.append(text if p.default is p.empty else f"{name}={text}")
    return type(made).__name__ + (f"({', '.join(texts)})" if texts else "")
