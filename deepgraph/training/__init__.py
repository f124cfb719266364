"""Training conveniences: a loop over epochs with a bar, a history, early stopping, checkpoints.

None of it is needed: a step stays a function that a loop of your own may call.
"""

from __future__ import annotations

from deepgraph.training.callback import Callback as Callback
from deepgraph.training.callback import Run as Run
from deepgraph.training.checkpoint import Checkpoint as Checkpoint
from deepgraph.training.early_stopping import EarlyStopping as EarlyStopping
from deepgraph.training.feeding import evaluate as evaluate
from deepgraph.training.fit import fit as fit
from deepgraph.training.history import History as History
from deepgraph.training.plot import Chart as Chart
from deepgraph.training.plot import LivePlot as LivePlot
