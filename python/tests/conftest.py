"""Rows for the tests."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def clouds():
    """Two clouds of points, three labels in each; labels as numbers."""
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(0, 1, (60, 3)), random.normal(4, 1, (60, 3))])
    truth = np.repeat([0, 1], 60)
    y = np.full(120, -1)
    y[[0, 1, 2, 60, 61, 62]] = truth[[0, 1, 2, 60, 61, 62]]
    # Shared by all tests, so none may change them.
    for array in (X, y, truth):
        array.flags.writeable = False
    return X, y, truth


@pytest.fixture(scope="session")
def fitted(clouds):
    """A classifier of the clouds."""
    from cpcvae import CPCClassifier

    X, y, _ = clouds
    return CPCClassifier(steps=60, folds=2).fit(X, y)
