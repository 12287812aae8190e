"""Inside the tools of scikit-learn and joblib."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from cpcvae import CPCClassifier, CPCImputer

joblib = pytest.importorskip("joblib")


def model(**more):
    return CPCClassifier(steps=40, hold_out=False, **more)


def test_in_a_pipeline_behind_a_column_transformer(clouds):
    X, y, truth = clouds
    columns = ColumnTransformer([("scaled", StandardScaler(), [0, 1])], remainder="passthrough")
    pipeline = make_pipeline(columns, model()).fit(X, y)
    assert pipeline.score(X, truth) > 0.95
    codes = make_pipeline(StandardScaler(), model()).fit(X, y).transform(X)
    assert len(codes) == 120


def test_set_output_gives_frames(clouds):
    pandas = pytest.importorskip("pandas")
    X, y, _ = clouds
    codes = model(code=2).set_output(transform="pandas").fit(X, y).transform(X)
    assert isinstance(codes, pandas.DataFrame)
    assert list(codes.columns) == ["cpcclassifier0", "cpcclassifier1"]
    gaps = pandas.DataFrame(X.copy(), columns=["a", "b", "c"])
    gaps.loc[4, "b"] = None
    filled = CPCImputer(steps=30).set_output(transform="pandas").fit_transform(gaps)
    assert list(filled.columns) == ["a", "b", "c"] and not filled.isna().any().any()


def test_a_grid_is_searched_in_processes(clouds):
    X, _, truth = clouds
    search = GridSearchCV(model(), {"prediction_weight": [1.0, 10.0]}, cv=2, n_jobs=2)
    search.fit(X, truth)
    assert search.best_score_ > 0.9
    assert search.best_params_["prediction_weight"] in (1.0, 10.0)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_backend_does_not_matter(clouds, backend):
    X, _, truth = clouds
    asked = cross_val_score(model(), X, truth, cv=3)
    with joblib.parallel_backend(backend, n_jobs=2):
        np.testing.assert_array_equal(cross_val_score(model(), X, truth, cv=3), asked)


def test_self_training_goes_on_from_it(clouds):
    X, y, truth = clouds
    trained = SelfTrainingClassifier(model(), max_iter=2).fit(X, y)
    assert trained.score(X, truth) > 0.9


def test_a_fit_starts_anew_each_time(clouds):
    X, y, _ = clouds
    one = model().fit(X, y)
    asked = one.predict_proba(X)
    one.fit(X[:, :2], y)
    assert one.n_features_in_ == 2
    np.testing.assert_array_equal(clone(one).fit(X, y).predict_proba(X), asked)
