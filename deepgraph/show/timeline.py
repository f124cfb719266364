"""Timeline: a plan as a picture, memory upwards against time to the right, each value a bar."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from xml.sax.saxutils import escape

from deepgraph.dims import bind, product
from deepgraph.drawn import Drawn
from deepgraph.expr import Expr
from deepgraph.plan import Plan, times
from deepgraph.schedule import Kernel
from deepgraph.show.labels import kind, label, size_text, visible
from deepgraph.show.measure import width
from deepgraph.show.svg import STYLE

TYPICAL = 32  # stands for sizes that nobody gave
WIDE, TALL = 860.0, 300.0  # of the field
LEFT, TOP, BELOW = 64.0, 34.0, 92.0  # around it
FONT = 10.0


@dataclass(frozen=True)
class Bar:
    """A value in the arena: from which time to which, at which offset; None is scratch.

    A time is a kernel, or a statement of one where the target runs statements. `over` is the value
    whose memory it took over while that was read for the last time.
    """

    value: Expr | None
    offset: int
    bytes: int
    first: int
    last: int
    over: Expr | None = None


class Timeline(Drawn):
    """The arena of a plan over time, for known sizes."""

    def __init__(self, plan: Plan, sizes: Mapping[str, int]) -> None:
        names = plan.schedule.graph.sizes
        self.plan = plan
        self.sizes = {name: sizes.get(name, TYPICAL) for name in names}
        self.binding = plan.bind(self.sizes)

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        """The values and scratch in the arena, in the order they are made."""
        held: dict[int, list[tuple[int, Expr]]] = {}
        for kernel, when in self._when.items():
            step = 0 if self.plan.target.atomic else 1
            for k, node in enumerate(kernel.nodes):
                home = self.plan.homes.get(node)
                if home is not None and home.kind == "slot":
                    held.setdefault(home.key, []).append((when.start + k * step, node))
        found = []
        for slot, (first, last) in enumerate(self.binding.spans):
            offset, values = self.binding.offsets[slot], held.get(slot, [])
            if not values:
                found.append(Bar(None, offset, self.binding.bytes[slot], first, last))
            starts = [first, *(at for at, _ in values[1:])]
            ends = [*starts[1:], last]
            for k, (_, value) in enumerate(values):
                nbytes = bind(product(value.shape), self.sizes) * value.dtype.itemsize
                over = values[k - 1][1] if k else None
                found.append(Bar(value, offset, nbytes, starts[k], ends[k], over))
        return tuple(sorted(found, key=lambda bar: bar.first))

    @cached_property
    def alive(self) -> list[int]:
        """The bytes of the arena that are in use at each time."""
        found = [0] * self._end
        for (first, last), nbytes in zip(self.binding.spans, self.binding.bytes, strict=True):
            for at in range(first, last + 1):
                found[at] += nbytes
        return found

    @cached_property
    def _handed(self) -> set[Expr | None]:
        """The values whose memory others took over."""
        return {bar.over for bar in self.bars} - {None}

    @cached_property
    def _when(self) -> dict[Kernel, range]:
        return times(self.plan.schedule, self.plan.target)

    @property
    def _end(self) -> int:
        return max((when.stop for when in self._when.values()), default=0)

    def _kernel(self, at: int) -> int:
        """The kernel that runs at a time."""
        return bisect_right([when.start for when in self._when.values()], at) - 1

    @property
    def unplanned_bytes(self) -> int:
        """What they would take without reuse."""
        return sum(bar.bytes for bar in self.bars)

    def drawn_as(self) -> Plan:
        """The plan."""
        return self.plan

    def __repr__(self) -> str:
        told = "".join(f", {name}={n}" for name, n in self.sizes.items())
        peak, whole = size_text(self.binding.peak_bytes), size_text(self.unplanned_bytes)
        return f"<timeline of {len(self.bars)} values: {peak} of {whole}{told}>"

    def to_html(self) -> str:
        """The picture itself."""
        return self.to_svg()

    def to_svg(self, limit: int | None = None) -> str:
        """Bars of values, red where one takes over another's memory; the peak; no reuse."""
        wide, tall = LEFT + WIDE + 20, TOP + TALL + BELOW
        body = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="deepgraph" width="{wide:g}" '
            f'height="{tall:g}" viewBox="0 0 {wide:g} {tall:g}" style="max-width:100%">',
            f"<style>{STYLE}{_STYLE}</style>",
            *self._axes(), *map(self._bar, self.bars), *self._peak(), *self._sums(),
        ]  # fmt: skip
        return "\n".join([*body, "</svg>", ""])

    def _x(self, at: float) -> float:
        return LEFT + WIDE * at / max(self._end, 1)

    def _y(self, nbytes: float) -> float:
        return TOP + TALL * (1 - nbytes / max(self.binding.peak_bytes, 1))

    def _bar(self, bar: Bar) -> str:
        start = bar.first + (0.5 if bar.over is not None else 0)
        x, end = self._x(start), self._x(bar.last + (0.5 if bar.value in self._handed else 1))
        y, base = self._y(bar.offset + bar.bytes), self._y(bar.offset)
        name = "scratch"
        if bar.value is not None:
            name = visible(f"{bar.value.origin.scope} {label(bar.value, [])}".strip())
        told = [name, size_text(bar.bytes), self._during(bar)]
        if bar.value is not None:
            told += [bar.value.type_text, str(bar.value.origin), bar.value.origin.line]
        if bar.over is not None:
            told.append(f"in place of {bar.over!r}")
        sort = "view" if bar.value is None else kind(bar.value)
        text = ""
        if width(name, FONT) + 6 < end - x and base - y > FONT + 2:
            middle = (x + end) / 2, (y + base) / 2 + FONT * 0.35
            text = _text(name, *middle, "detail")
        red = ""
        if bar.over is not None:
            red = f'<path class="edge in-place" d="M{x:.1f} {y:.1f}V{base:.1f}"/>'
        return (
            f'<g class="{sort}"><title>{escape(visible(chr(10).join(filter(None, told))))}</title>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{end - x:.1f}" height="{base - y:.1f}"/>'
            f"{text}</g>{red}"
        )

    def _during(self, bar: Bar) -> str:
        first, last = self._kernel(bar.first), self._kernel(bar.last)
        return f"kernel {first}" if first == last else f"kernels {first} to {last}"

    def _axes(self) -> list[str]:
        base, peak, free = TOP + TALL, self.binding.peak_bytes, 0.0
        lines = [_line(LEFT, base, LEFT + WIDE, base), _line(LEFT, TOP, LEFT, base)]
        for k, when in enumerate(self._when.values()):
            middle = self._x((when.start + when.stop) / 2)
            if middle >= free:  # numbers keep apart
                lines.append(_text(str(k), middle, base + 14, "out"))
                free = middle + 24
        lines.append(_text("kernel", LEFT + WIDE / 2, base + 30, "out"))
        for share in (0, 0.25, 0.5, 0.75, 1):
            y = self._y(peak * share)
            lines.append(_text(size_text(round(peak * share)), LEFT - 5, y + 3.5, "out end"))
        told = ", ".join(f"{name}={n}" for name, n in self.sizes.items())
        title = f"arena{f' for {told}' if told else ''}: {size_text(peak)}"
        return [*lines, _text(title, LEFT, 16, "out start")]

    def _peak(self) -> list[str]:
        """A frame around the kernel at which most is alive."""
        if not any(self.alive):
            return []
        most = max(range(self._end), key=self.alive.__getitem__)
        k = self._kernel(most)
        when = [*self._when.values()][k]
        x, end = self._x(when.start), self._x(when.stop)
        name = self.plan.schedule.kernels[k].name
        told = f"peak: {size_text(self.alive[most])} in use in kernel {k}, {name}"
        side, at = ("end", end) if most * 2 > self._end else ("start", x)
        return [
            f'<rect class="peak" x="{x:.1f}" y="{TOP - 4:.1f}" width="{end - x:.1f}" '
            f'height="{TALL + 4:.1f}"/>',
            _text(visible(told), at, TOP - 8, f"out {side}"),
        ]

    def _sums(self) -> list[str]:
        """The arena beside what a buffer for each value would take."""
        peak, whole = self.binding.peak_bytes, max(self.unplanned_bytes, 1)
        lines, y = [], TOP + TALL + 44
        for name, nbytes in (("reuse", peak), ("no reuse", self.unplanned_bytes)):
            long = max((WIDE - 110) * nbytes / max(whole, peak), 0.5)
            lines.append(_text(name, LEFT - 5, y + 10, "out end"))
            lines.append(f'<g class="call"><rect x="{LEFT}" y="{y}" width="{long:.1f}" '
                         f'height="12" rx="2"/></g>')  # fmt: skip
            lines.append(_text(size_text(nbytes), LEFT + long + 6, y + 10, "out start"))
            y += 20
        return lines


def _text(text: str, x: float, y: float, sort: str) -> str:
    return f'<text class="{sort}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path class="edge data" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


_STYLE = (
    "svg.deepgraph .out{font-size:11px;fill:#7c8593}.deepgraph .start{text-anchor:start}"
    ".deepgraph .end{text-anchor:end}"
    ".deepgraph .peak{fill:#e11d48;fill-opacity:.06;stroke:#e11d48;stroke-dasharray:4 3}"
)
