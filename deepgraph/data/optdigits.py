"""The handwritten digits that the package carries.

They are the test part of "Optical Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak
(1998), from the UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed under
Creative Commons Attribution 4.0 International (https://creativecommons.org/licenses/by/4.0/).
`digits.txt`, beside the data, repeats this and says what was changed.
"""

from __future__ import annotations

import importlib.resources

import numpy as np

from deepgraph.data.dataset import Pair, from_pixels


def digits() -> Pair:
    """1,797 handwritten digits of 8x8 as (train, test): x float32 (n, 1, 8, 8) in [0, 1], t int64.

    1,437 to train and 360 to test, in a fixed shuffled order with each class in proportion. The
    package carries them, so this needs no file and no network.

    E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
    Repository, 1998, CC BY 4.0.
    """
    path = importlib.resources.files("deepgraph.data").joinpath("digits.npz")
    with path.open("rb") as file, np.load(file) as stored:
        images, labels = stored["images"], stored["labels"]
        parts = stored["train"], stored["test"]
    train, test = (
        from_pixels(
            images[rows, None],
            labels[rows],
            white=16,
            name="digits",
            classes=tuple("0123456789"),
            source="deepgraph",
        )
        for rows in parts
    )
    return train, test
