"""Expr, the one node class, and Op, the one record of all there is to say of an operation."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from deepgraph.arguments import misfit
from deepgraph.dims import Dim, Shape, Size, product, same_shape
from deepgraph.drawn import Drawn
from deepgraph.dtypes import DType, as_dtype
from deepgraph.errors import ArgumentError, DTypeError, GraphError, Origin, PrecisionWarning, here
from deepgraph.literal import Literal, attr_key, default_dtypes, weak, weak_dtype


class NoValueError(GraphError, TypeError):
    """A Python construct asked a symbol for a value that exists only when a step runs."""


class Kind(Enum):
    """How the scheduler may treat an operation."""

    SOURCE = "source"  # a leaf: placeholder, parameter, constant, size
    ELEMENTWISE = "elementwise"  # out[i] depends on the inputs at i alone: may fuse, run in place
    REDUCE = "reduce"  # folds axes: may absorb what it folds and what follows
    VIEW = "view"  # the same bytes under another shape: moves nothing
    CALL = "call"  # a library call or a template


class Type(NamedTuple):
    """What a typing rule gives: shape, dtype, and attributes in normal form if they changed."""

    shape: Shape
    dtype: DType
    attrs: Mapping[str, Any] = {}


class Strided(NamedTuple):
    """Elements of a value, found at `offset + sum(index * strides)`; counted in elements."""

    shape: Shape
    strides: tuple[Size, ...]
    offset: Size = 0


class Need(NamedTuple):
    """`low >= 0` must hold of the sizes that are fed; `what` says what is wrong otherwise."""

    low: Size
    what: str
    error: type[GraphError]
    by: str = ""  # who needs it, if not the operation


class Example(NamedTuple):
    """How tests call an operation: the inputs' shapes, and its attributes."""

    shapes: tuple[tuple[int, ...], ...]
    attrs: Mapping[str, Any] = {}


Rule = Callable[..., Type]
Grad = Callable[..., "Sequence[Expr | None]"]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Op:
    """An operation. Calling it declares a node; every other field is read by one later stage.

    The typing rule is a function of the inputs (parameters annotated `Expr`, or one annotated
    `Sequence[Expr]`, first) and the attributes (the rest). It checks them and returns a `Type`.
    """

    name: str
    kind: Kind
    rule: Rule
    ufunc: str = ""  # NumPy ufunc that computes it; for REDUCE the one whose `reduce` does
    numpy: str = ""  # NumPy statement: "{xp}.matmul({0}, {1}, out={out})"; made from ufunc if empty
    c: str = ""  # scalar C expression: "dg_exp({0})", of backends/c; attributes by name
    grad: Grad | None = None  # (g, y, *inputs, **attrs) -> a gradient or None per input
    view: Callable[..., Strided | None] | None = None  # VIEW: (strided, node) -> strided, if it can
    expand: Callable[..., Expr] | None = None  # its definition in smaller operations
    scratch: Callable[[Expr], Sequence[Type]] | None = None  # CALL: temporaries, as {tmp0}, ...
    flops: Callable[[Expr], Size] | int = 1  # per element of the output, or a rule
    alias: bool = True  # may `out` be one of the inputs? (True if each is read before a write)
    needs: Callable[[Expr], Sequence[Need]] | None = None  # of sizes that no rule can prove
    refuses: bool = False  # CALL: may it raise, once it runs, for what it reads?
    follows: int | None = None  # CALL: the input whose memory order the result takes
    apart: tuple[int, ...] = ()  # inputs that promote with no other: a condition, indices
    low: float = -2.0  # tests draw inputs from [low, high)
    high: float = 2.0
    examples: tuple[Example, ...] = ()
    aliases: tuple[str, ...] = ()  # NumPy's other names for it
    internal: bool = False  # what passes, layers and gradients declare, and users need not
    variadic: bool = field(init=False)
    arity: int = field(init=False)
    params: tuple[str, ...] = field(init=False)
    attr_names: tuple[str, ...] = field(init=False)
    defaults: dict[str, Any] = field(init=False)
    __signature__: inspect.Signature = field(init=False)

    def __post_init__(self) -> None:
        signature = inspect.signature(self.rule)
        hints = [str(p.annotation) for p in signature.parameters.values()]
        put = object.__setattr__
        put(self, "variadic", bool(hints) and "Sequence[" in hints[0] and "Expr]" in hints[0])
        put(self, "arity", sum("Expr" in h for h in hints))
        put(self, "params", tuple(signature.parameters))
        put(self, "attr_names", self.params[self.arity :])
        given = {k: p.default for k, p in signature.parameters.items()}
        put(self, "defaults", {k: v for k, v in given.items() if v is not inspect.Parameter.empty})
        put(self, "__doc__", self.rule.__doc__)
        put(self, "__signature__", signature.replace(return_annotation="Expr"))
        put(self, "internal", self.internal or self.rule.__name__.startswith("_"))
        for name in (self.name, *self.aliases):
            if name in FUNCTIONS and not _is_users(FUNCTIONS[name]):
                raise GraphError(f"two operations are called {name!r}")
            OPS[name] = FUNCTIONS[name] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Expr:
        values: Sequence[Any] = args
        if kwargs or len(args) != len(self.params):
            given = self.defaults | dict(zip(self.params, args, strict=False)) | kwargs
            twice = not kwargs.keys().isdisjoint(self.params[: len(args)])
            if twice or len(args) > len(self.params) or given.keys() != set(self.params):
                wrong = misfit(self.__signature__, args, kwargs)
                assert wrong is not None
                raise explained(wrong, self.name, here())
            values = [given[k] for k in self.params]
        origin = here()
        operands = tuple(values[0]) if self.variadic else values[: self.arity]
        inputs: tuple[Expr, ...] = ()
        try:
            inputs = lift(operands, self.apart)
            attrs = dict(zip(self.attr_names, values[self.arity :], strict=True))
            node = self.declare(inputs, attrs, origin)
        except GraphError as error:
            raise explained(error, self.name, origin, inputs) from None
        if len(inputs) > 1 and node.dtype == _DOUBLE and not origin.via:
            _warn_if_widened(node)
        return node

    def declare(self, inputs: tuple[Expr, ...], attrs: Mapping[str, Any], origin: Origin) -> Expr:
        """Type a node over these inputs and make it."""
        shape, dtype, normal = self.infer(inputs, attrs)
        if normal:
            attrs = {**attrs, **normal}
        return Expr(self, inputs, tuple(attrs[k] for k in self.attr_names), shape, dtype, origin)

    def infer(self, inputs: Sequence[Expr], attrs: Mapping[str, Any]) -> Type:
        """The type this operation gives for these inputs."""
        return self.rule(inputs, **attrs) if self.variadic else self.rule(*inputs, **attrs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return op_named, (self.name,)


OPS: dict[str, Op] = {}
FUNCTIONS: dict[str, Callable[..., Expr]] = {}  # operations and what is composed of them


def _is_users(function: Callable[..., Expr]) -> bool:
    """Is it declared outside this package, as by a cell of a notebook that may run again?"""
    rule = function.rule if isinstance(function, Op) else function
    return not rule.__module__.startswith("deepgraph.")


def op_named(name: str) -> Op:
    """The registered operation of this name or alias."""
    if name not in OPS:
        raise GraphError(
            f"no operation is called {name!r}: import what declares it with @dg.op before loading "
            "what it is part of"
        )  # fmt: skip
    return OPS[name]


def op(kind: Kind | str, **fields: Any) -> Callable[[Rule], Op]:
    """Make an operation of its typing rule: same name, same signature, same docstring.

    `kind` is "elementwise", "reduce", "view" or "call"; the other fields are those of `Op`: `numpy`
    or `ufunc` say what it computes, or `expand` defines it in smaller operations; `grad` gives its
    gradient and `c` its scalar C text. The rule takes the operands (annotated `Expr`), then the
    attributes, and returns a `Type` or raises. Pickles name an operation, so whoever loads one
    imports its declaration first. To declare one anew is to replace it.

    >>> import deepgraph as dg
    >>> @dg.op("elementwise", ufunc="cbrt", grad=lambda g, y, x: (g / (3 * y * y),))
    ... def cube_root(x: dg.Expr) -> dg.Type:
    ...     \"\"\"The real cube root.\"\"\"
    ...     return dg.Type(x.shape, x.dtype)
    >>> cube_root(dg.placeholder("x", shape=("n",)))
    cube_root: float32[n]
    """
    try:
        known = Kind(kind)
    except ValueError:
        kinds = ", ".join(k.value for k in Kind)
        raise ArgumentError(f"op: kind is one of {kinds}: got {kind!r}") from None
    return lambda rule: Op(fields.pop("name", rule.__name__.strip("_")), known, rule, **fields)


def explained(
    error: GraphError, name: str, origin: Origin, inputs: Sequence[Expr] = ()
) -> GraphError:
    """The error with the operation's name, the user's line with carets, and what went in."""
    if not error.details:
        error.bare, error.origin = error.args[0], origin
        error.args = (f"{name}: {error.bare}",)
        lines = ["  at " + origin.show()]
        for i, x in enumerate(inputs[:3]):
            lines.append(f"  input {i} is {x} from {x.origin.where}")
        error.details = lines
    return error


class Expr(Drawn):
    """A node: an operation applied to inputs. Immutable, compared by identity, typed at birth."""

    __slots__ = ("__weakref__", "attrs", "dtype", "inputs", "op", "origin", "shape")

    op: Op
    inputs: tuple[Expr, ...]
    attrs: tuple[Any, ...]
    shape: Shape
    dtype: DType
    origin: Origin

    def __init__(
        self, op: Op, inputs: tuple[Expr, ...], attrs: tuple[Any, ...], shape: Shape, dtype: DType,
        origin: Origin,
    ) -> None:  # fmt: skip
        _set_op(self, op)
        _set_inputs(self, inputs)
        _set_attrs(self, attrs)
        _set_shape(self, shape)
        _set_dtype(self, dtype)
        _set_origin(self, origin)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"an Expr is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an Expr is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        from deepgraph.graph import packed  # a flat list of nodes, so that depth costs no recursion

        return packed(self)

    def attr(self, name: str) -> Any:
        """One attribute of the operation, in its normal form."""
        return self.attrs[self.op.attr_names.index(name)]

    @property
    def attributes(self) -> dict[str, Any]:
        """All attributes by name."""
        return dict(zip(self.op.attr_names, self.attrs, strict=True))

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two nodes the same computation; inputs and large constants by identity."""
        return (
            self.op.name, self.dtype, *map(id, self.inputs), *map(attr_key, self.attrs)
        )  # fmt: skip

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Size:
        """The number of elements."""
        return product(self.shape)

    @property
    def name(self) -> str:
        """The name of a placeholder or parameter; empty for what is computed."""
        return str(self.attr("name")) if "name" in self.op.attr_names else ""

    @property
    def type_text(self) -> str:
        """`float32[batch, 784]`"""
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"

    def __repr__(self) -> str:
        return f"{' '.join(filter(None, [self.op.name, self.name]))}: {self.type_text}"

    # What a symbol has no answer to, it refuses, and says what to write instead.

    def __bool__(self) -> NoReturn:
        raise _no_value(self, "has no truth value: use dg.where, & and |, not if, and, or, in, ==")

    def __float__(self) -> NoReturn:
        raise _no_value(self, "is not a number yet: compile it and call the step")

    __int__ = __index__ = __complex__ = __float__

    def __format__(self, spec: str) -> str:
        if spec:
            raise _no_value(self, "is not a number yet: compile it and call the step")
        return str(self)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _no_value(self, "is not an array yet: dg.compile it and call the step")

    def __len__(self) -> int:
        if not self.shape or not isinstance(self.shape[0], int):
            raise _no_value(self, "has no length known now: use .shape[0]")
        return self.shape[0]

    def __iter__(self) -> Iterator[Expr]:
        if not self.shape or not isinstance(self.shape[0], int):
            raise _no_value(
                self, "has no length known now to iterate over: for several expressions write a "
                "list, [x, y]; for its rows give axis 0 a known size"
            )  # fmt: skip
        return (self[i] for i in range(len(self)))

    def __contains__(self, other: Any) -> NoReturn:
        raise _no_value(self, "cannot be searched: use dg.any(x == value)")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise _no_value(self, "is immutable: use dg.where(mask, value, x), or dg.concat of slices")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Expr:
        if method != "__call__" or kwargs or ufunc.__name__ not in OPS:
            raise _no_value(self, f"cannot go through np.{ufunc.__name__}: use the dg function")
        return OPS[ufunc.__name__](*args)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module whose functions take it, as the array API standard has it: `deepgraph`."""
        import deepgraph

        return deepgraph

    # fmt: off
    def __eq__(self, o: Any) -> Expr: return OPS["equal"](self, o)  # type: ignore[override]
    def __ne__(self, o: Any) -> Expr: return OPS["not_equal"](self, o)  # type: ignore[override]
    def __lt__(self, o: Any) -> Expr: return OPS["less"](self, o)
    def __le__(self, o: Any) -> Expr: return OPS["less_equal"](self, o)
    def __gt__(self, o: Any) -> Expr: return OPS["greater"](self, o)
    def __ge__(self, o: Any) -> Expr: return OPS["greater_equal"](self, o)
    def __add__(self, o: Any) -> Expr: return OPS["add"](self, o)
    def __radd__(self, o: Any) -> Expr: return OPS["add"](o, self)
    def __sub__(self, o: Any) -> Expr: return OPS["subtract"](self, o)
    def __rsub__(self, o: Any) -> Expr: return OPS["subtract"](o, self)
    def __mul__(self, o: Any) -> Expr: return OPS["multiply"](self, o)
    def __rmul__(self, o: Any) -> Expr: return OPS["multiply"](o, self)
    def __truediv__(self, o: Any) -> Expr: return OPS["divide"](self, o)
    def __rtruediv__(self, o: Any) -> Expr: return OPS["divide"](o, self)
    def __floordiv__(self, o: Any) -> Expr: return OPS["floor_divide"](self, o)
    def __rfloordiv__(self, o: Any) -> Expr: return OPS["floor_divide"](o, self)
    def __mod__(self, o: Any) -> Expr: return OPS["remainder"](self, o)
    def __rmod__(self, o: Any) -> Expr: return OPS["remainder"](o, self)
    def __pow__(self, o: Any) -> Expr: return OPS["pow"](self, o)
    def __rpow__(self, o: Any) -> Expr: return OPS["pow"](o, self)
    def __matmul__(self, o: Any) -> Expr: return OPS["matmul"](self, o)
    def __rmatmul__(self, o: Any) -> Expr: return OPS["matmul"](o, self)
    def __and__(self, o: Any) -> Expr: return OPS["bitwise_and"](self, o)
    def __rand__(self, o: Any) -> Expr: return OPS["bitwise_and"](o, self)
    def __or__(self, o: Any) -> Expr: return OPS["bitwise_or"](self, o)
    def __ror__(self, o: Any) -> Expr: return OPS["bitwise_or"](o, self)
    def __xor__(self, o: Any) -> Expr: return OPS["bitwise_xor"](self, o)
    def __rxor__(self, o: Any) -> Expr: return OPS["bitwise_xor"](o, self)
    def __lshift__(self, o: Any) -> Expr: return OPS["bitwise_left_shift"](self, o)
    def __rlshift__(self, o: Any) -> Expr: return OPS["bitwise_left_shift"](o, self)
    def __rshift__(self, o: Any) -> Expr: return OPS["bitwise_right_shift"](self, o)
    def __rrshift__(self, o: Any) -> Expr: return OPS["bitwise_right_shift"](o, self)
    def __neg__(self) -> Expr: return OPS["negative"](self)
    def __pos__(self) -> Expr: return OPS["positive"](self)
    def __invert__(self) -> Expr: return OPS["bitwise_invert"](self)
    def __abs__(self) -> Expr: return OPS["abs"](self)
    def __round__(self, ndigits: None = None) -> Expr: return OPS["round"](self)
    def __divmod__(self, o: Any) -> tuple[Expr, Expr]: return self // o, self % o
    def __getitem__(self, index: Any) -> Expr: return FUNCTIONS["getitem"](self, index)
    # fmt: on

    __hash__ = object.__hash__

    def astype(self, dtype: Any) -> Expr:
        """`dg.astype` of this value."""
        return OPS["astype"](self, dtype)

    def squeeze(self, axis: Any = None) -> Expr:
        """`dg.squeeze` of this value."""
        return OPS["squeeze"](self, axis)

    def clip(self, min: Any = None, max: Any = None) -> Expr:
        """`dg.clip` of this value."""
        return FUNCTIONS["clip"](self, min, max)

    def flatten(self) -> Expr:
        """All elements along one axis."""
        return self.reshape(-1)

    def reshape(self, *shape: Any) -> Expr:
        """`reshape(2, 3)` or `reshape((2, 3))`; one size may be -1."""
        return OPS["reshape"](self, shape[0] if _is_sequence(shape) else shape)

    def transpose(self, *axes: Any) -> Expr:
        """Permute the axes; without arguments reverse them, as NumPy does."""
        order = axes[0] if _is_sequence(axes) else axes or tuple(reversed(range(self.ndim)))
        return OPS["permute_dims"](self, order)

    @property
    def T(self) -> Expr:  # noqa: N802
        """The transpose of a matrix; for more axes there is `mT`."""
        if self.ndim != 2:
            raise GraphError(f".T is for two dimensions: {self}; use .mT or dg.permute_dims")
        return OPS["permute_dims"](self, (1, 0))

    @property
    def mT(self) -> Expr:  # noqa: N802
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise GraphError(f".mT needs two dimensions or more: {self}")
        axes = range(self.ndim)
        return OPS["permute_dims"](self, (*axes[:-2], axes[-1], axes[-2]))


def _reduction(name: str) -> Callable[..., Expr]:
    def method(self: Expr, axis: Any = None, keepdims: bool = False, **rest: Any) -> Expr:
        if rest.get("out") is not None:
            raise _no_value(self, f"cannot be written into an array: {name} takes no out=")
        given = {k: v for k, v in rest.items() if v is not None}  # np.sum passes out=None
        return FUNCTIONS[name](self, axis=axis, keepdims=keepdims, **given)

    method.__doc__ = f"`dg.{name}` of this value."
    return method


for _name in ("sum", "mean", "max", "min", "prod", "any", "all", "var", "std", "argmax", "argmin"):
    setattr(Expr, _name, _reduction(_name))

_set_op, _set_inputs, _set_attrs, _set_shape, _set_dtype, _set_origin = (
    Expr.__dict__[slot].__set__ for slot in ("op", "inputs", "attrs", "shape", "dtype", "origin")
)


def explaining(function: Function, name: str = "") -> Function:
    """What the function raises names it and points at the user's line, as ops' errors do.

    So does a TypeError if the arguments are not those that it takes. Of functions within each other
    the outermost is named: the one that the user wrote.
    """
    name = name or function.__name__.strip("_")

    @wraps(function)
    def declared(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except GraphError as error:
            origin, inputs = here(), [a for a in args if isinstance(a, Expr)]
            if error.origin is not None and error.origin.same(origin):
                error.args, error.details = (error.bare,), []
            raise explained(error, name, origin, inputs) from None
        except TypeError:
            if (wrong := misfit(inspect.signature(function), args, kwargs)) is None:
                raise
            raise explained(wrong, name, here()) from None

    return cast(Function, declared)


def composition(function: Function) -> Function:
    """Register a public function that is written in terms of operations; see `explaining`."""
    FUNCTIONS[function.__name__.strip("_")] = declared = explaining(function)
    return declared


def _constant(value: Literal) -> Expr:
    """What `OPS["constant"](value)` declares, without the checks that it needs none of."""
    return Expr(OPS["constant"], (), (value,), value.value.shape, value.value.dtype, here())


def lift(args: Sequence[Any], apart: Sequence[int] = ()) -> tuple[Expr, ...]:
    """Make operands of Python numbers (weak, as in NEP 50), sizes (weak integers) and arrays.

    Numbers take the dtype that the others promote to, except those at the places `apart`.
    """
    if all(isinstance(a, Expr) for a in args):
        return tuple(args)
    beside = [a for k, a in enumerate(args) if k not in apart]
    typed = [a.dtype for a in beside if isinstance(a, _TYPED)] or default_dtypes(beside)
    return tuple([
        a if isinstance(a, Expr) else _leaf(a, default_dtypes([a]) if k in apart else typed)
        for k, a in enumerate(args)
    ])  # fmt: skip


_TYPED = (Expr, np.ndarray, np.generic)


def _leaf(value: Any, typed: Sequence[DType]) -> Expr:
    """The leaf that stands for a value beside operands of these dtypes."""
    if isinstance(value, np.ndarray | np.generic):
        as_dtype(value.dtype)
        return _constant(Literal(value))
    if isinstance(value, bool | int | float):
        return _constant(Literal(weak(value, typed)))
    if isinstance(value, Dim):
        return OPS["size"](value, weak_dtype(0, typed))
    raise DTypeError(f"expected an expression, an array or a number: {type(value).__name__}")


def arguments(node: Expr) -> str:
    """The attributes as text, for people: `axis=(1,), keepdims=True`."""
    given = {k: v for k, v in node.attributes.items() if k != "name" and v is not None}
    return ", ".join(f"{k}={v}" for k, v in given.items())


_DOUBLE = np.dtype(np.float64)
_widened = False


def _warn_if_widened(node: Expr) -> None:
    """Say once that a float32 went into a float64, by way of another operand."""
    global _widened
    narrow = [x for x in node.inputs if x.dtype == np.float32]
    if narrow and not _widened:
        _widened = True
        others = [x for x in node.inputs if x.dtype != np.float32 and x.dtype != np.bool_]
        file, _, line = node.origin.where.rpartition(":")
        warnings.warn_explicit(
            f"{node.op.name} of {narrow[0]!r} and {others[0]!r} runs in float64, as all that "
            f"follows from it: if that is not meant, give the latter dtype='float32'\n  at "
            f"{node.origin.show()}",
            PrecisionWarning, file or "deepgraph", int(line) if line.isdigit() else 1,
        )  # fmt: skip


def same_type(a: Expr, b: Expr) -> bool:
    """Do two nodes have equal dtype and equal shape, as terms?"""
    return a.dtype == b.dtype and same_shape(a.shape, b.shape)


def _is_sequence(args: tuple[Any, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], Sequence)


def _no_value(node: Expr, text: str) -> NoValueError:
    return explained(  # type: ignore[return-value]
        NoValueError(f"{text}"), repr(node), here(), ()
    )
