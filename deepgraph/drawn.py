"""Drawn: what every level can do with a picture of itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx


class Drawn:
    """A thing with pictures. `deepgraph.show` draws them and is imported when one is asked for."""

    __slots__ = ()

    def drawn_as(self) -> Any:
        """The expression, graph, schedule or plan that stands for this in a picture."""
        return self

    def kernel_texts(self) -> Sequence[str]:
        """The generated code of each kernel in the picture, where there is any."""
        return ()

    def to_text(self) -> str:
        """A table for people: operations, types, where they were declared, kernels, memory."""
        from deepgraph.show import to_text

        return to_text(self)

    def to_dot(self) -> str:
        """The picture in Graphviz's language, kernels as clusters."""
        from deepgraph.show import to_dot

        return to_dot(self)

    def save_dot(self, path: str | PathLike[str]) -> None:
        """Write `to_dot()` to a file."""
        from deepgraph.show import save_dot

        save_dot(self, path)

    def to_mermaid(self) -> str:
        """The picture in Mermaid's language, which code hosts draw."""
        from deepgraph.show import to_mermaid

        return to_mermaid(self)

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """The nodes as a networkx graph, each edge with what sort it is or which operand."""
        from deepgraph.show import to_networkx

        return to_networkx(self)

    def to_svg(self, limit: int | None = None) -> str:
        """The picture as SVG, kernels as clusters; of more than `limit` nodes both ends."""
        from deepgraph.show import to_svg

        return to_svg(self, limit)

    def save_svg(self, path: str | PathLike[str]) -> None:
        """Write `to_svg()` to a file."""
        from deepgraph.show import save_svg

        save_svg(self, path)

    def to_html(self) -> str:
        """The picture as an element of a page: layers open on a click, nodes tell of themselves."""
        from deepgraph.show import to_html

        return to_html(self)

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write a page with `to_html()` to a file; it needs nothing else."""
        from deepgraph.show import save_html

        save_html(self, path)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        from deepgraph.show import mimebundle

        return mimebundle(self, include, exclude)
