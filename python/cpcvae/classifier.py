"""Classifiers: one for every method, and one each for the best-known ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from cpcvae._classifier import Classifier
from cpcvae._parameters import (
    CLASSIFIER_FITTED,
    CONSISTENCY,
    PREDICTION,
    PREDICTOR,
    ConsistencyConstraint,
    PredictionConstraint,
    PredictorParameters,
)


@dataclass(kw_only=True, eq=False, repr=False)
class CPCClassifier(Classifier, ConsistencyConstraint):
    __doc__ = f"""A classifier that learns from rows with and without a label.

    It fits a variational autoencoder whose codes must predict the labels (prediction constraint) and
    whose generated rows must get the prediction of the code that they were generated from (consistency
    constraint).
{CONSISTENCY}
    method : str
        ``cpc``, or any other of ``cpcvae methods``.
{CLASSIFIER_FITTED}
    Examples
    --------
    >>> import numpy as np
    >>> from cpcvae import CPCClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(5, 1, (60, 2))])
    >>> y = np.array([None] * 120, dtype=object)
    >>> y[[0, 1, 2, 60, 61, 62]] = ["low", "low", "low", "high", "high", "high"]
    >>> model = CPCClassifier(steps=100, folds=2).fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist()
    ['low', 'high']
    >>> model.predict_proba(X).shape, model.transform(X).shape, model.sample(3, "low").shape
    ((120, 2), (120, 2), (3, 2))
    """

    method: str = field(default="cpc", kw_only=False)


@dataclass(kw_only=True, eq=False, repr=False)
class PCClassifier(Classifier, PredictionConstraint):
    __doc__ = f"""A classifier by prediction constraints alone (``pc``).

    A variational autoencoder whose codes must predict the labels; :class:`CPCClassifier` adds the
    consistency constraint.
{PREDICTION}
{CLASSIFIER_FITTED}"""

    _method = "pc"


@dataclass(kw_only=True, eq=False, repr=False)
class M2Classifier(Classifier, PredictorParameters):
    __doc__ = f"""A classifier by the semi-supervised model M2 of Kingma et al. (``m2``).

    The label is a latent variable: rows of a class are drawn from p(x|y) directly.
{PREDICTOR}
    classification_weight : float
        alpha, the weight of the classification loss.
{CLASSIFIER_FITTED}"""

    classification_weight: float | None = None

    _method = "m2"
