"""What all optimisers share: gradients, weight decay, the learning rate, and state of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from deepgraph.arguments import call_text, number
from deepgraph.dtypes import accumulator, is_float, promote
from deepgraph.errors import ArgumentError, DTypeError, GraphError, ShapeError, scope
from deepgraph.expr import Expr, explaining
from deepgraph.grad import grad
from deepgraph.optim.clip import clip_norm as clipped_by_norm
from deepgraph.optim.clip import clip_value as clipped_by_value
from deepgraph.parameter import Parameter

Rate: TypeAlias = float | Expr | Callable[[Expr], Expr]


class Optimizer:
    """A rule that gives parameters new values, once a call of a step. A subclass writes `rule`.

    `lr` is a number, which may be set anew at any time without compiling again; or a schedule: an
    expression of `opt.iteration`, the number of steps taken, or a function of it. The factors
    `p.rate` and `p.decay` of a parameter scale its learning rate and weight decay, as they are when
    `updates` is called; a parameter whose rate is 0 is left alone. `state` names all that the
    optimiser remembers, such as `momentum/0.weight`. Half precision is updated in float32.
    """

    decoupled: ClassVar[bool] = False  # weight decay shrinks the weight, rather than the gradient

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls):
            cls.__init__ = explaining(cls.__init__, cls.__name__)  # type: ignore[method-assign]

    def __init__(self, lr: Rate, weight_decay: float = 0.0) -> None:
        self.weight_decay = number("weight_decay", weight_decay, "[0, inf)")
        self.iteration = Parameter(np.int64(0), name="iteration")
        self.state: dict[str, Parameter] = {"iteration": self.iteration}
        self._slots: dict[tuple[str, Parameter], Parameter] = {}
        self._lr: Any = _checked(lr)
        self._declared = False

    def rule(
        self, p: Parameter, x: Expr, g: Expr, lr: Expr, new: dict[Parameter, Expr]
    ) -> Expr:  # fmt: skip
        """The new value of x, which is p, given its gradient and learning rate.

        What the rule remembers of p it gets from `slot`, and puts that one's new value into `new`.
        """
        raise NotImplementedError

    def slot(self, name: str, p: Parameter) -> Parameter:
        """What the optimiser remembers of p under a name: zeros at first."""
        if (name, p) not in self._slots:
            label = f"{name}/{p.name}"
            if label in self.state:
                raise GraphError(
                    f"two parameters are called {p.name!r}; give each model a name: "
                    "nn.Sequential(..., name='encoder')"
                )
            zeros = Parameter(np.zeros(p.shape, accumulator(p.dtype)), label)
            self._slots[name, p] = self.state[label] = zeros
        return self._slots[name, p]

    def __repr__(self) -> str:
        return call_text(self, _shown)

    @property
    def lr(self) -> Any:
        """The learning rate: a number, or the expression of its schedule."""
        return self._lr.value[()] if isinstance(self._lr, Parameter) else self._lr

    @lr.setter
    @explaining
    def lr(self, lr: Rate) -> None:
        lr = _checked(lr)
        if isinstance(self._lr, Parameter) and not isinstance(lr, Expr) and not callable(lr):
            self._lr.assign(lr)
        elif self._declared:
            raise GraphError(
                f"lr: updates were declared with {self._lr!r}, which a schedule is part of; set a "
                "schedule before calling updates, or make the optimiser anew"
            )
        else:
            self._lr = lr

    @explaining
    def updates(
        self, loss: Expr, parameters: Iterable[Parameter],
        clip_norm: float | None = None, clip_value: float | None = None,
    ) -> dict[Parameter, Expr]:  # fmt: skip
        """New values of the parameters and of the optimiser's own state, for `dg.compile`.

        `clip_value` brings each element of each gradient into [-clip_value, clip_value];
        `clip_norm` then scales all gradients alike, so that their common norm is at most that.
        Called again, for another loss or other parameters, it goes on with the same state.
        """
        learned = _distinct(parameters)
        if clip_value is not None:
            clip_value = number("clip_value", clip_value, "(0, inf]")
        if clip_norm is not None:
            clip_norm = number("clip_norm", clip_norm, "(0, inf]")
        rate = self._rate(learned)
        with scope(type(self).__name__):
            gradients = grad(loss, learned)
            if clip_value is not None:
                gradients = clipped_by_value(gradients, clip_value)
            if clip_norm is not None:
                gradients = clipped_by_norm(gradients, clip_norm)
            new: dict[Parameter, Expr] = {self.iteration: self.iteration + 1}
            for p, g in zip(learned, gradients, strict=True):
                with scope(p.name):
                    new[p] = self._new(p, g, rate, new)
        return new

    def _new(self, p: Parameter, g: Expr, rate: Expr, new: dict[Parameter, Expr]) -> Expr:
        """The new value of p by the rule, its weight decay and its own rate."""
        wide = accumulator(p.dtype)
        x, g, lr = _cast(p, wide), _cast(g, wide), _cast(rate, wide)
        if p.rate != 1:
            lr = lr * p.rate
        if (decay := self.weight_decay * p.decay) and self.decoupled:
            x = x * (1 - lr * decay)
        elif decay:
            g = g + decay * x
        return _cast(self.rule(p, x, g, lr, new), p.dtype)

    def _rate(self, learned: list[Parameter]) -> Expr:
        """The learning rate as a node; a number becomes a parameter, as precise as those given."""
        if not isinstance(self._lr, Expr):
            if callable(self._lr):
                self._lr = self._lr(self.iteration)
            else:
                dtype = promote(*(accumulator(p.dtype) for p in learned))
                self._lr = self.state["lr"] = Parameter(self._lr, "lr", dtype)
        if not isinstance(self._lr, Expr) or self._lr.shape or not is_float(self._lr.dtype):
            raise ShapeError(f"a learning rate is one float: got {self._lr!r}")
        self._declared = True
        return self._lr


def _distinct(parameters: Iterable[Parameter]) -> list[Parameter]:
    if hasattr(parameters, "parameters"):
        raise DTypeError(f"updates are of parameters: write {type(parameters).__name__}.parameters")
    if isinstance(parameters, Expr) or not isinstance(parameters, Iterable):
        given = getattr(parameters, "name", "") or "parameter"
        raise ArgumentError(f"parameters are a list: got {parameters!r}; write [{given}]")
    found = list(dict.fromkeys(parameters))
    for p in found:
        if not isinstance(p, Parameter):
            raise DTypeError(f"updates are of parameters: got {p!r}")
        if not is_float(p.dtype):
            raise DTypeError(f"only floats are learned: got {p!r}")
    if not found:
        raise GraphError("there are no parameters to update")
    return [p for p in found if p.rate != 0]


def _checked(lr: Any) -> Any:
    """The learning rate, if it is a number, an expression or a function."""
    schedule = isinstance(lr, Expr) or callable(lr)
    return lr if schedule else number("lr", lr, "[0, inf)")


def _shown(argument: Any) -> str:
    value = argument.value[()] if isinstance(argument, Parameter) else argument
    return str(value)


def _cast(x: Expr, dtype: Any) -> Expr:
    return x if x.dtype == dtype else x.astype(dtype)
