"""The rules: x is a parameter and g its gradient; t counts steps from 1, all state starts at 0."""

from __future__ import annotations

from typing import ClassVar

from deepgraph import ops
from deepgraph.arguments import number
from deepgraph.errors import ArgumentError, GraphError
from deepgraph.expr import Expr
from deepgraph.optim.optimizer import Optimizer, Rate
from deepgraph.parameter import Parameter

New = dict[Parameter, Expr]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if that is not 0.

    g += weight_decay * x;  v = momentum * v + g;  x -= lr * v, or, with `nesterov`,
    x -= lr * (g + momentum * v). I. Sutskever et al.: On the importance of initialization and
    momentum in deep learning, ICML 2013, with the learning rate outside v.
    """

    def __init__(
        self, lr: Rate = 0.01, momentum: float = 0.0, nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(lr, weight_decay)
        self.momentum, self.nesterov = number("momentum", momentum, "[0, inf)"), nesterov
        if nesterov and not momentum:
            raise GraphError("nesterov is a form of momentum: got momentum=0")

    def rule(self, p: Parameter, x: Expr, g: Expr, lr: Expr, new: New) -> Expr:
        """One step."""
        if self.momentum:
            v = self.slot("momentum", p)
            new[v] = self.momentum * v + g
            g = g + self.momentum * new[v] if self.nesterov else new[v]
        return x - lr * g


class RMSProp(Optimizer):
    """Gradients over the root of a running mean of their squares.

    g += weight_decay * x;  s = alpha * s + (1 - alpha) * g**2;  v = momentum * v + g / (sqrt(s) +
    eps);  x -= lr * v. T. Tieleman, G. Hinton: Lecture 6.5, Coursera, 2012.
    """

    def __init__(
        self, lr: Rate = 0.01, alpha: float = 0.99, eps: float = 1e-8, momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(lr, weight_decay)
        self.alpha, self.eps = number("alpha", alpha, "[0, 1)"), number("eps", eps, "[0, inf)")
        self.momentum = number("momentum", momentum, "[0, inf)")

    def rule(self, p: Parameter, x: Expr, g: Expr, lr: Expr, new: New) -> Expr:
        """One step."""
        s = self.slot("square", p)
        new[s] = self.alpha * s + (1 - self.alpha) * ops.square(g)
        step = g / (ops.sqrt(new[s]) + self.eps)
        if self.momentum:
            v = self.slot("momentum", p)
            new[v] = step = self.momentum * v + step
        return x - lr * step


class Adagrad(Optimizer):
    """Gradients over the root of the sum of all their squares so far.

    g += weight_decay * x;  s += g**2;  x -= lr * g / (sqrt(s) + eps). J. Duchi, E. Hazan,
    Y. Singer: Adaptive subgradient methods, JMLR 2011.
    """

    def __init__(self, lr: Rate = 0.01, eps: float = 1e-10, weight_decay: float = 0.0) -> None:
        super().__init__(lr, weight_decay)
        self.eps = number("eps", eps, "[0, inf)")

    def rule(self, p: Parameter, x: Expr, g: Expr, lr: Expr, new: New) -> Expr:
        """One step."""
        s = self.slot("square", p)
        new[s] = s + ops.square(g)
        return x - lr * g / (ops.sqrt(new[s]) + self.eps)


class Adam(Optimizer):
    """A running mean of gradients over the root of one of their squares, both freed of their start.

    g += weight_decay * x;  m = beta1 * m + (1 - beta1) * g;  s = beta2 * s + (1 - beta2) * g**2;
    x -= lr * (m / (1 - beta1**t)) / (sqrt(s / (1 - beta2**t)) + eps). D. Kingma, J. Ba: Adam,
    ICLR 2015; computed in the order that its section 2 gives, with fewer operations an element.
    """

    def __init__(
        self, lr: Rate = 0.001, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(lr, weight_decay)
        if not isinstance(betas, tuple | list) or len(betas) != 2:
            raise ArgumentError(f"betas are two numbers: got {betas!r}")
        self.betas = number("beta1", betas[0], "[0, 1)"), number("beta2", betas[1], "[0, 1)")
        self.eps = number("eps", eps, "[0, inf)")

    def rule(self, p: Parameter, x: Expr, g: Expr, lr: Expr, new: New) -> Expr:
        """One step."""
        m, s = self.slot("mean", p), self.slot("square", p)
        beta1, beta2 = self.betas
        new[m] = beta1 * m + (1 - beta1) * g
        new[s] = beta2 * s + (1 - beta2) * ops.square(g)
        t = new[self.iteration].astype("float64")  # 1 - beta2**t is near 0 at first
        root = ops.sqrt(1 - beta2**t)
        scale, eps = root / (1 - beta1**t), self.eps * root
        return x - lr * scale.astype(x.dtype) * new[m] / (ops.sqrt(new[s]) + eps.astype(x.dtype))


class AdamW(Adam):
    """Adam with weight decay on its own: x -= lr * weight_decay * x, then Adam's step.

    I. Loshchilov, F. Hutter: Decoupled weight decay regularization, ICLR 2019.
    """

    decoupled: ClassVar[bool] = True

    def __init__(
        self, lr: Rate = 0.001, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:  # fmt: skip
        super().__init__(lr, betas, eps, weight_decay)
