"""Elements in CUDA: what a thread computes of a kernel's registers, some neighbours at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from deepgraph.backends.cfold import Fold
from deepgraph.backends.cfunction import Lines, offset, parenthesised, remark, words
from deepgraph.backends.clike import (
    converted,
    expression,
    loaded,
    memory_type,
    register_type,
    size,
    size_name,
    stored,
)
from deepgraph.dims import Size, bind, product, same
from deepgraph.dtypes import DType
from deepgraph.expr import Expr, Kind
from deepgraph.schedule import Access, Instr, Kernel

WIDEST = 16  # bytes that a thread loads at once
THREADS = 256  # of a block


class FunctionText:
    """Writes `__global__` functions; each has the parameters that it mentions, and no others.

    Pointers are a0.. for loads, y0.. for stores and t0.. for scratch, in elements; n is how many
    the kernel's space has. `written` are the loads whose memory the kernel writes. If it is
    `guarded` it does nothing after a fault.
    """

    def __init__(
        self, kernel: Kernel, sizes: Iterable[str], written: Sequence[int],
        scratch: Sequence[DType], guarded: bool = False,
    ) -> None:  # fmt: skip
        self.kernel, self.out, self.guarded = kernel, Lines(), guarded
        self.sizes = {size_name(n): n for n in sizes}
        apart = set(range(len(kernel.loads))) - {*written}
        self.parameters: dict[str, str] = {}
        for k, access in enumerate(kernel.loads):
            only = "__restrict__ " if k in apart else ""
            self.parameters[f"a{k}"] = f"const {memory_type(access.value.dtype)} *{only}"
        for k, store in enumerate(kernel.stores):
            only = "" if written else "__restrict__ "
            self.parameters[f"y{k}"] = f"{memory_type(store.access.value.dtype)} *{only}"
        self.parameters |= {f"t{k}": f"{memory_type(t)} *" for k, t in enumerate(scratch)}
        self.parameters["fault"] = "int64_t *"
        self.parameters |= dict.fromkeys(("n", *self.sizes), "const dg_index ")

    @contextmanager
    def function(
        self, name: str, widths: Sequence[int] = (), threads: int = THREADS, hungry: bool = False
    ) -> Iterator[list[str]]:
        """One more function, or one for each of several `widths`, V; gives its arguments.

        Then their names are those of `wide_name`. A `hungry` one may have all registers.
        """
        outside, self.out = self.out, Lines()
        arguments: list[str] = []
        yield arguments
        body, self.out = ["if (*fault) return;"] * self.guarded + self.out.lines, outside
        mentioned = words(body)
        given = [p for p in self.parameters if p in mentioned]
        arguments += given
        head = ", ".join(self.parameters[p] + p for p in given)
        bounds = f"__launch_bounds__({threads}{',1' * hungry})"
        if len(widths) < 2:
            with self.out.braces(f'extern "C" __global__ void {bounds} {name}({head})'):
                self.out.add(*body)
            self.out.add("")
            return
        with self.out.braces(f"template <int V> DG_SCALAR void {name}_of({head})"):
            self.out.add(*body)
        for width, wide in wide_names(name, widths).items():
            with self.out.braces(f'extern "C" __global__ void {bounds} {wide}({head})'):
                self.out.add(f"{name}_of<{width}>({', '.join(given)});")
        self.out.add("")


def wide_names(name: str, widths: Sequence[int]) -> dict[int, str]:
    """What the function of each width is called."""
    return {v: f"{name}_v{v}" for v in widths} if len(widths) > 1 else {1: name}


class Elements:
    """Writes registers at indices i0.., into the lines of a function; if `wide`, of V neighbours
    along the last axis, which are loaded and stored as one pack.
    """

    def __init__(
        self, text: FunctionText, place: Callable[[Expr], str], wide: bool = False
    ) -> None:
        self.text, self.place, self.wide = text, place, wide
        self.kernel = text.kernel
        self.first = len(self.kernel.loads)
        self.lane = len(self.kernel.space) - 1
        self.shown = ""

    @property
    def out(self) -> Lines:
        """The lines of the function that is open."""
        return self.text.out

    def along_lane(self, register: int) -> bool:
        """Does a register vary along the last axis?"""
        if register < self.first:
            strides = self.kernel.loads[register].at.strides
            return bool(strides) and not same(strides[self.lane], 0)
        return self.lane in self.kernel.body[register - self.first].axes

    def once(self, registers: Iterable[int]) -> None:
        """Registers one by one."""
        for r in registers:
            if r < self.first:
                access = self.kernel.loads[r]
                self._define(r, access.value.dtype, self._loaded(r, access))
            else:
                self._compute(r)

    def packs(
        self, registers: Sequence[int], stores: Sequence[int] = (),
        folded: Mapping[int, int] | None = None, folds: Mapping[int, Fold] | None = None,
    ) -> None:  # fmt: skip
        """Registers of V neighbours, what is stored of them, and which of them each fold takes.

        Without V, those of one element.
        """
        if not self.wide:
            self.once(registers)
            for fold, r in (folded or {}).items():
                self.out.add(*(folds or {})[fold].short_take(fold, f"r{r}"))
            self.store(stores)
            return
        self.once(r for r in registers if not self.along_lane(r))
        varying = [r for r in registers if self.along_lane(r)]
        for r in varying:
            if r < self.first:
                access = self.kernel.loads[r]
                kind = memory_type(access.value.dtype)
                where = f"a{r} + {_summand(offset(access.at))}"
                self.out.add(f"const dg_pack<{kind}, V> p{r} = dg_load<V>({where});")
        wide = [k for k in stores if self.along_lane(self.kernel.stores[k].register)]
        for k in wide:
            kind = memory_type(self.kernel.stores[k].access.value.dtype)
            self.out.add(f"dg_pack<{kind}, V> w{k};")
        if varying or folded:
            self.out.add("#pragma unroll")
            with self.out.braces("for (int v = 0; v < V; v++)"):
                self._neighbour(varying, wide, folded or {}, folds or {})
        for k in wide:
            access = self.kernel.stores[k].access
            self.out.add(f"dg_save<V>(y{k} + {_summand(offset(access.at))}, w{k});")
        self.store([k for k in stores if k not in wide])

    def _neighbour(
        self, varying: Iterable[int], wide: Iterable[int], folded: Mapping[int, int],
        folds: Mapping[int, Fold],
    ) -> None:  # fmt: skip
        for r in varying:
            if r < self.first:
                dtype = self.kernel.loads[r].value.dtype
                self._define(r, dtype, loaded(f"p{r}.at[v]", dtype))
            else:
                self._compute(r)
        for fold, r in folded.items():
            self.out.add(*folds[fold].short_take(fold, f"r{r}"))
        for k in wide:
            store = self.kernel.stores[k]
            value = stored(f"r{store.register}", store.access.value.dtype)
            self.out.add(f"w{k}.at[v] = {value};")

    def store(self, stores: Iterable[int], guards: Sequence[str] = ()) -> None:
        """Registers to memory, each by one of the threads that have it."""
        for k in stores:
            store = self.kernel.stores[k]
            value = stored(f"r{store.register}", store.access.value.dtype)
            only = [*guards, *(f"i{a} == 0" for a in self._absent(store.register))]
            condition = f"if ({' && '.join(only)}) " if only else ""
            self.out.add(f"{condition}y{k}[{offset(store.access.at)}] = {value};")

    def _absent(self, register: int) -> list[int]:
        axes = self.kernel.body[register - self.first].axes if register >= self.first else {
            a for a, s in enumerate(self.kernel.loads[register].at.strides) if not same(s, 0)
        }  # fmt: skip
        return [a for a in range(len(self.kernel.space)) if a not in axes and a in self.going]

    going: Sequence[int] = ()  # the axes that have an index here

    def _loaded(self, r: int, access: Access) -> str:
        return loaded(f"a{r}[{offset(access.at)}]", access.value.dtype)

    def _define(self, r: int, dtype: DType, value: str) -> None:
        self.out.add(f"const {register_type(dtype)} r{r} = {value};")

    def _compute(self, r: int) -> None:
        instr = self.kernel.body[r - self.first]
        place = self.place(instr.node)
        if place and place != self.shown:
            self.shown = place
            self.out.add(remark(place))
        self._define(r, instr.node.dtype, computed(instr))


def computed(instr: Instr) -> str:
    """The scalar that an instruction computes of its registers; of a reduction, of one element."""
    node = instr.node
    args = [f"r{a}" if isinstance(a, int) else a for a in instr.args]
    if node.op.kind is not Kind.REDUCE:
        return expression(node, args)
    fold, value = Fold(node), converted(str(args[0]), node.inputs[0].dtype, node.dtype)
    return value if fold.initial is None else f"dg_{fold.ufunc}({value}, {fold.start(node.dtype)})"


def indices(axes: Sequence[int], space: Sequence[Size], index: str, step: str = "") -> list[str]:
    """Lines that take an index apart into those of some axes; the last one's counts by `step`."""
    lines = []
    for k, axis in reversed(list(enumerate(axes))):
        extent = parenthesised(size(space[axis]))
        last = k == len(axes) - 1
        if last and step:
            extent = f"({extent} / {step})"
        digit = index if k == 0 else f"{index} % {extent}"
        if last and step:
            digit = f"{_factor(digit)} * {step}"
        lines.append(f"const dg_index i{axis} = {digit};")
        if k:
            lines.append(f"const dg_index q{axis} = {index} / {extent};")
            index = f"q{axis}"
    return lines


def _factor(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _summand(text: str) -> str:
    return f"({text})" if " " in text else text


def widths(kernel: Kernel) -> tuple[int, ...]:
    """How many neighbours along the last axis may be one pack, for some sizes: the most, and 1."""
    accesses = [*kernel.loads, *(s.access for s in kernel.stores)]
    if not kernel.space:
        return (1,)
    steps = [a.at.strides[-1] for a in accesses]
    packed = [a for a, s in zip(accesses, steps, strict=True) if not same(s, 0)]
    if not packed or not all(same(s, 1) or same(s, 0) for s in steps):
        return (1,)
    most = WIDEST // max(a.value.dtype.itemsize for a in packed)
    return (most, 1) if most > 1 else (1,)


def width(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """The width for known sizes: the most if all packs then lie whole and aligned."""
    most = widths(kernel)[0]

    def whole(n: Size) -> bool:
        return bind(n, sizes) % most == 0

    for access in (*kernel.loads, *(s.access for s in kernel.stores)):
        at = access.at
        if same(at.strides[-1] if at.strides else 0, 0):
            continue
        if not all(map(whole, (kernel.space[-1], at.offset, *at.strides[:-1]))):
            return 1
    return most


def count(kernel: Kernel, axes: Iterable[int], sizes: Mapping[str, int]) -> int:
    """How many elements some axes have."""
    found: int = bind(product(kernel.space[a] for a in axes), sizes)
    return found


def blocks(n: int, each: int) -> int:
    """How many blocks of so many there are."""
    return -(-n // each)


def ceiling(n: int) -> int:
    """The next power of two."""
    return 1 << max(n - 1, 0).bit_length()


