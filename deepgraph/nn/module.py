"""Module: something called on expressions that finds its parameters in its own attributes."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from deepgraph.arguments import call_text
from deepgraph.dims import Shape, pretty
from deepgraph.dtypes import DType, as_dtype, is_float
from deepgraph.errors import (
    ArgumentError,
    DTypeError,
    GraphError,
    Origin,
    ShapeError,
    again,
    here,
    scope,
)
from deepgraph.expr import Expr, explained, explaining
from deepgraph.graph import Graph
from deepgraph.ops.source import placeholder
from deepgraph.parameter import Parameter

Initialiser = Callable[[tuple[int, ...], np.random.Generator], npt.ArrayLike]
Init = Initialiser | npt.ArrayLike | Parameter


class _Place(NamedTuple):
    """Where a module stands in the outermost one: by names, and by numbers."""

    path: str
    numbers: tuple[int, ...]


_NOWHERE = _Place("", ())


@dataclass
class _Outermost:
    """A call of a module from outside any other."""

    places: Mapping[int, _Place]  # of every module in it, by identity
    seed: int | None
    called: list[Module] = field(default_factory=list)
    trained: list[Module] = field(default_factory=list)  # those with statistics
    made: list[tuple[Module, str]] = field(default_factory=list)  # parameters


@dataclass
class _Call:
    """A call of a module, inside the outermost one."""

    outermost: _Outermost
    place: _Place
    training: bool
    drawn: int = 0  # parameters


_running: ContextVar[_Call | None] = ContextVar("deepgraph_module", default=None)
_count = itertools.count()
_trained: WeakKeyDictionary[Module, Origin] = WeakKeyDictionary()  # no part of a copy or a pickle


class Module:
    """A layer, or what is composed of layers: subclass it and write `forward`.

    Modules and parameters are found in the attributes, in the order they were set, also inside
    lists, tuples and dicts; a parameter is called by the path that leads to it, such as
    `blocks.0.conv.weight`. `training=True` at the outermost call holds for every module inside; a
    `forward` that takes `training` gets it. Weights are drawn at the first call, from the `seed` of
    the module that is called: an attribute that may be set, and counts the modules of a process
    unless it is. So two layers start differently, and a program that runs again starts alike.

    >>> from deepgraph import nn
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         self.hidden, self.scores = nn.Dense(100), nn.Dense(10)
    ...
    ...     def forward(self, x):
    ...         return self.scores(nn.relu(self.hidden(x)))
    """

    name: str = ""  # what the paths start with if this is the outermost module
    seed: int | None  # what all weights are drawn from if this is the outermost module
    statistics: ClassVar[tuple[str, ...]] = ()  # attributes that are updated, but not learned
    _met: bool = False  # an input
    _seen: tuple[tuple[Shape, DType], ...] = ()  # types of the inputs, where it was outermost
    _called: Origin  # and the user's line

    _takes_training: ClassVar[bool] = False

    if TYPE_CHECKING:
        forward: Callable[..., Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls)
        if not hasattr(cls, "seed"):
            made.seed = next(_count)
        return made

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls):
            cls.__init__ = explaining(cls.__init__, cls.__name__)  # type: ignore[method-assign]
        if hasattr(cls, "forward"):
            cls._takes_training = "training" in inspect.signature(cls.forward).parameters

    def __call__(self, *inputs: Any, training: bool | None = None, **options: Any) -> Any:
        """What `forward` makes of the inputs; as in evaluation unless `training` says otherwise."""
        outer = _running.get()
        if training is None:
            training = outer is not None and outer.training
        if self._takes_training:
            options["training"] = training
        if outer is not None and id(self) in outer.outermost.places:
            return self._inside(outer, training, inputs, options)
        if outer is not None and not self._met:
            raise GraphError(
                f"{type(self).__name__} is called inside a module but is none of its attributes, "
                "so its weights would be lost: set it in __init__"
            )
        outermost = _Outermost({id(m): place for place, m in _tree(self)}, self.seed)
        try:
            result = self._inside(_Call(outermost, _NOWHERE, training), training, inputs, options)
        except BaseException:
            for module, name in outermost.made:  # or they keep the sizes of a failed attempt
                delattr(module, name)
            raise
        for module in outermost.called:
            module._met = True
        if inputs and all(isinstance(x, Expr) for x in inputs):
            self._seen = tuple((x.shape, x.dtype) for x in inputs)
            self._called = here()
        _trained.update(dict.fromkeys(outermost.trained, here()))
        return result

    def _inside(
        self, outer: _Call, training: bool, inputs: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        place = outer.outermost.places[id(self)]
        inner = place.path.removeprefix(f"{outer.place.path}.")
        outer.outermost.called.append(self)
        token = _running.set(_Call(outer.outermost, place, training))
        try:
            if training and self.statistics:
                self._train_once(outer.outermost)
            with scope(inner) if inner else nullcontext():
                return self.forward(*inputs, **options)
        except GraphError as error:
            raise self._explained(error, place.path) from None
        finally:
            _running.reset(token)

    def _train_once(self, outermost: _Outermost) -> None:
        if self in _trained or self in outermost.trained:
            before = _trained.get(self, here()).where
            raise GraphError(
                f"statistics have one new value a step, and were called in training before, at "
                f"{before}; use that result, concat what goes in, or make the model anew"
            )
        outermost.trained.append(self)

    def _explained(self, error: GraphError, path: str) -> GraphError:
        """The error, saying in which layer it happened: the user's line often calls them all."""
        name = type(self).__name__
        error = explained(error, name, here())
        if path and not hasattr(error, "layer"):
            error.layer = f"{path} ({name})"  # type: ignore[attr-defined]
            error.details = [*error.details, f"  in layer {path} ({name})"]
        return error

    def parameter(self, name: str, shape: Shape, init: Init, dtype: Any = "float32") -> Parameter:
        """The parameter in attribute `name`; made there at the first call, from within `forward`.

        `init` is a function of shape and generator (see `nn.init`), a number, an array, or a
        parameter to share. Raises ShapeError where the parameter has another shape than this.
        """
        call = _running.get()
        assert call is not None, "parameters are made within forward"
        label = _join(call.place.path, name)
        found: Parameter | None = vars(self).get(name)
        if not all(isinstance(n, int) for n in shape):
            raise ShapeError(f"the sizes of {label} must be known now: got {pretty(shape)}")
        if found is None:
            found = _made(label, shape, init, as_dtype(dtype), call)  # type: ignore[arg-type]
            setattr(self, name, found)
            call.outermost.made.append((self, name))
        if found.shape != shape:
            raise ShapeError(
                f"{label} has shape {pretty(found.shape)}, but this input needs {pretty(shape)}"
            )
        return found

    def members(self) -> Iterator[tuple[str, Any]]:
        """What may be or hold modules and parameters, by name."""
        yield from vars(self).items()

    @property
    def state(self) -> dict[str, Parameter]:
        """All parameters by path, learned or not, each once.

        Raises GraphError unless every layer has met an input, since weights are made then.
        """
        found: dict[Parameter, str] = {}
        for path, module in self._built():
            for label, p in _items(module, Parameter):
                found.setdefault(p, _join(path, label))
        return {path: p for p, path in found.items()}

    @property
    def parameters(self) -> list[Parameter]:
        """What is learned, each parameter once, in the order of `state`."""
        modules = [module for _, module in self._built()]
        fixed = {getattr(m, name, None) for m in modules for name in m.statistics}
        return [p for p in self.state.values() if p not in fixed]

    def _built(self) -> Iterator[tuple[str, Module]]:
        """Every module with its path; GraphError for one whose parameters are still to come."""
        called: set[int] = set()  # what is inside one that was called has nothing to come
        for place, module in _tree(self):
            inner = [m for _, m in _items(module, Module)]
            if module._met or id(module) in called:
                called.update(map(id, inner))
            elif not inner:
                name = " ".join(filter(None, [type(module).__name__, place.path]))
                raise GraphError(
                    f"{name} has not met an input, so its parameters are not made yet: "
                    "call the model first"
                )
            yield place.path, module

    def _graph(self) -> Graph:
        """What the model computes in evaluation of inputs like those it last met."""
        many = len(self._seen) > 1
        with again(self._called):
            inputs = [
                placeholder(f"x{k}" if many else "x", shape, dtype)
                for k, (shape, dtype) in enumerate(self._seen)
            ]
            results = self(*inputs)
        if isinstance(results, Expr):
            return Graph(tuple(inputs), {"output": results})
        named = results.items() if isinstance(results, Mapping) else enumerate(results)
        return Graph(tuple(inputs), {f"{name}": value for name, value in named})

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The graph of the model beside its layers as text; text alone before it met an input."""
        text = {"text/plain": repr(self)}
        return self._graph()._repr_mimebundle_(include, exclude) | text if self._seen else text

    def __repr__(self) -> str:
        lines = []
        for place, module in _tree(self):
            shapes = [f"{label} {pretty(p.shape)}" for label, p in _items(module, Parameter)]
            lines.append("  ".join(filter(None, [place.path, call_text(module, _shown), *shapes])))
        return "\n".join(lines)


def _made(label: str, shape: tuple[int, ...], init: Init, dtype: DType, call: _Call) -> Parameter:
    if isinstance(init, Parameter):
        return init
    if not is_float(dtype):
        raise DTypeError(f"{label} is a float, as its input must be: got {dtype.name}; use .astype")
    if callable(init):
        numbers = (*call.place.numbers, call.drawn)
        call.drawn += 1
        seed = np.random.SeedSequence(call.outermost.seed, spawn_key=numbers)
        init = init(shape, np.random.default_rng(seed))
    values = np.asarray(initialiser(f"what init gives for {label}", init))
    if values.ndim and values.shape != shape:
        raise ShapeError(f"{label} has shape {pretty(shape)}: init gives {pretty(values.shape)}")
    return Parameter(np.broadcast_to(values, shape), label, dtype)


def _shown(argument: Any) -> str | None:
    """An argument of a layer as text, if it is short; what is in it has a line of its own."""
    if isinstance(argument, Module | Parameter):
        return None
    text = getattr(argument, "__name__", repr(argument))
    return text if len(text) <= 40 and "\n" not in text else None


def initialiser(name: str, init: Any) -> Init:
    """The argument, if it says how weights start."""
    if not (callable(init) or isinstance(init, Parameter)):
        try:
            kind = np.asarray(init).dtype.kind
        except ValueError:  # of lists that are not equally long
            kind = "O"
        if kind not in "biuf":
            raise ArgumentError(
                f"{name} is a function of shape and generator such as nn.init.normal, a number, an "
                f"array or a parameter: got {init!r}"
            )
    return init  # type: ignore[no-any-return]


def _items(module: Module, kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """What a module holds of a kind, also inside lists, tuples and dicts, by name."""
    stack = [*module.members()][::-1]
    while stack:
        name, value = stack.pop()
        if isinstance(value, kind):
            yield name, value
        elif isinstance(value, Mapping):
            stack.extend([(_join(name, str(k)), v) for k, v in value.items()][::-1])
        elif isinstance(value, list | tuple):
            stack.extend([(_join(name, str(k)), v) for k, v in enumerate(value)][::-1])


def _tree(root: Module) -> Iterator[tuple[_Place, Module]]:
    """The module and all inside it, each once, before what it holds."""
    seen: set[int] = set()
    stack: list[tuple[_Place, Module]] = [(_Place(root.name, ()), root)]
    while stack:
        place, module = stack.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield place, module
        inner: Sequence[tuple[str, Module]] = [*_items(module, Module)]
        stack.extend(
            (_Place(_join(place.path, name), (*place.numbers, k)), m)
            for k, (name, m) in reversed([*enumerate(inner)])
        )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
