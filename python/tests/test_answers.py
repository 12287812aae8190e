"""Results of the estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cpcvae import CPCClassifier, CPCImputer, CPCRegressor, M2Classifier, PCClassifier, methods


def test_a_classifier_answers_everything(clouds, fitted):
    X, y, truth = clouds
    assert fitted.score(X, truth) > 0.95
    assert fitted.score(X, y) == 1.0  # rows without a label do not count
    shares = fitted.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(X))
    assert fitted.score_samples(X).shape == (120,)
    far = fitted.percentile(np.full((1, 3), 50.0))
    assert far[0] < fitted.percentile(X).mean()
    codes = fitted.transform(X)
    assert list(fitted.get_feature_names_out()) == [f"cpcclassifier{i}" for i in range(codes.shape[1])]
    assert fitted.inverse_transform(codes).shape == X.shape
    np.testing.assert_allclose(fitted.inverse_transform(codes), fitted.reconstruct(X), atol=1e-4)
    assert fitted.report_["labelled"] == 6 and fitted.report_["held_out"]["rows"] == 6
    assert {"step", "loss"} <= set(fitted.history_[-1])
    assert fitted.settings_["train"]["steps"] == 60


def test_samples_are_of_the_class_that_is_asked_for(fitted):
    for class_ in (0, 1):
        made = fitted.sample(20, class_, threshold=0.8, random_state=3)
        assert (fitted.predict(made) == class_).mean() > 0.8
    same = fitted.sample(5, random_state=1)
    np.testing.assert_array_equal(same, fitted.sample(5, random_state=1))
    with pytest.raises(ValueError, match="has no class `7`"):
        fitted.sample(1, 7)


def test_sets_hold_more_classes_for_more_coverage(clouds, fitted):
    X, _, truth = clouds
    few, many = (fitted.predict_set(X, coverage) for coverage in (0.5, 0.95))
    assert sum(map(len, few)) <= sum(map(len, many))
    assert np.mean([label in found for label, found in zip(truth, many, strict=True)]) > 0.9
    with pytest.raises(ValueError, match="held-out labels"):
        CPCClassifier(steps=20, hold_out=False).fit(X, truth).predict_set(X)


def test_suggestions_have_no_label_yet(clouds, fitted):
    X, y, _ = clouds
    found = fitted.suggest(X, 5, y)
    assert len({one["row"] for one in found}) == 5
    assert all(y[one["row"]] == -1 and one["class"] in (0, 1) for one in found)


def test_the_same_row_has_the_same_answer_whatever_is_asked_about_with_it(clouds, fitted):
    X, _, _ = clouds
    order = np.random.default_rng(1).permutation(len(X))
    for answer in (fitted.predict_proba, fitted.transform, fitted.score_samples, fitted.percentile):
        whole = answer(X)
        np.testing.assert_allclose(np.concatenate([answer(row) for row in X[:, None]]), whole, atol=1e-7)
        np.testing.assert_allclose(answer(X[order]), whole[order], atol=1e-9)


@pytest.mark.parametrize("nothing", [-1, np.nan, None])
def test_all_ways_to_say_that_a_label_is_missing_are_one(clouds, fitted, nothing):
    X, y, _ = clouds
    kind = object if nothing is None else type(nothing)
    given = np.array([nothing if label == -1 else label for label in y], dtype=kind)
    again = clone(fitted).fit(X, given)
    assert list(again.classes_) == [0, 1]
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("nothing", [-1, np.nan, None])
def test_texts_in_a_list_may_lack_labels_too(clouds, nothing):
    X, y, truth = clouds
    given = [nothing if label == -1 else ["low", "high"][label] for label in y]
    model = CPCClassifier(steps=60, hold_out=False).fit(X, given)
    assert list(model.classes_) == ["high", "low"]
    assert model.score(X, given) == 1.0
    assert model.score(X, np.array(["low", "high"])[truth]) > 0.95
    if nothing is not None:
        with pytest.raises(ValueError, match="is a class and not a missing label"):
            model.fit(X, np.array(given))


def test_classes_may_be_texts_of_any_kind(clouds):
    X, y, truth = clouds
    names = np.array(["na", "Ünder"], dtype=object)  # in a file, the first would mean "missing"
    given = [None if label == -1 else names[label] for label in y]
    model = CPCClassifier(steps=60, hold_out=False).fit(X, given)
    assert list(model.classes_) == sorted(names)
    assert model.score(X, names[truth]) > 0.95


def test_whole_numbers_keep_their_order(clouds):
    X, _, truth = clouds
    model = CPCClassifier(steps=60, hold_out=False).fit(X, np.array([10, 9])[truth])
    assert list(model.classes_) == [9, 10]
    assert model.predict_proba(X[:1])[0, 1] > 0.5


def test_all_methods_fit_tables(clouds):
    X, y, truth = clouds
    for name, _ in methods():
        if name == "vae":
            with pytest.raises(ValueError, match="does not predict labels"):
                CPCClassifier(name, steps=10, hold_out=False).fit(X, y)
            continue
        model = CPCClassifier(name, steps=20, hold_out=False).fit(X, y)
        shares = model.predict_proba(X)
        assert shares.shape == (120, 2) and (shares >= 0).all(), name
    assert PCClassifier(steps=1000, hold_out=False).fit(X, y).score(X, truth) > 0.9
    made = M2Classifier(steps=20, hold_out=False).fit(X, y).sample(3, class_=1)
    assert made.shape == (3, 3)


def test_settings_reach_the_library_by_their_keys(clouds):
    X, y, _ = clouds
    model = CPCClassifier(
        steps=7, code=3, hidden=(20, 10), consistency_weight=0.5, random_state=4, hold_out=False,
        settings={"train.clip_norm": 10},
    ).fit(X, y)
    found = model.settings_
    assert (found["train"]["steps"], found["model"]["code"], found["model"]["hidden"]) == (7, 3, [20, 10])
    assert (found["method"]["consistency_weight"], found["seed"], found["train"]["clip_norm"]) == (0.5, 4, 10)
    with pytest.raises(ValueError, match="did you mean `train.steps`"):
        CPCClassifier(settings={"train.stepz": 3}).fit(X, y)
    with pytest.raises(ValueError, match="lambda|prediction_weight|unknown setting"):
        CPCClassifier("vat", prediction_weight=3.0).fit(X, y)


def test_repr_and_parameters_are_scikit_learns():
    model = CPCClassifier(steps=5, prediction_weight=2)
    assert repr(model) == "CPCClassifier(prediction_weight=2, steps=5)"
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(stepz=3)


def test_a_comparison_is_a_table_with_a_verdict(clouds):
    X, y, truth = clouds
    y = np.where(np.arange(120) % 4 == 0, truth, -1)
    model = CPCClassifier(steps=40, folds=2).fit(X, y)
    with pytest.raises(ValueError, match="there was no comparison"):
        model.compare()
    found = model.compare(X, y)
    names = [row["method"] for row in found]
    assert names[0] == "ensemble" and {"cpc", "labels-only"} <= set(names)
    assert found.verdict and found.verdict in str(found)
    assert len(found.to_pandas()) == len(found)
    asked_first = CPCClassifier(steps=40, folds=2, baselines=True).fit(X, y)
    assert asked_first.compare().rows == found.rows
    np.testing.assert_array_equal(asked_first.predict_proba(X), model.predict_proba(X))


def test_a_regressor_learns_from_a_few_labels_and_knows_its_error():
    X = np.linspace(-2, 2, 200).reshape(-1, 1)
    truth = 1e6 + X[:, 0] * 3
    y = np.where(np.arange(200) % 5 == 0, truth, np.nan)
    model = CPCRegressor(steps=300, folds=3).fit(X, y)
    assert model.score(X, truth) > 0.9
    ends = model.predict_set(X, 0.8)
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert inside.mean() > 0.7
    several = CPCRegressor(steps=300, hold_out=False).fit(X, np.stack([truth, -truth], axis=1))
    assert several.predict(X).shape == (200, 2)
    assert several.score(X, np.stack([truth, -truth], axis=1)) > 0.9


def test_an_imputer_keeps_what_is_known():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    X = np.stack([x, 2 * x, -x + 0.01 * random.normal(size=200)], axis=1)
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    model = CPCImputer(steps=100).fit(gaps)
    filled = model.transform(gaps)
    known = ~np.isnan(gaps)
    np.testing.assert_array_equal(filled[known], gaps[known])
    assert np.abs(filled - X)[::5, 1].mean() < 0.3
    np.testing.assert_array_equal(filled, model.transform(gaps))
    draws = [model.impute(gaps, draw=draw)[0, 1] for draw in range(5)]
    assert len(set(draws)) > 1


def test_an_imputer_learns_from_continuous_labels(tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    X = np.stack([x, 2 * x, random.normal(size=200)], axis=1)
    X[::5, 1] = np.nan
    y = np.where(np.arange(200) % 2 == 0, 3.5 * x + 10, np.nan)
    model = CPCImputer(steps=300, code=3).fit(X, y)
    assert np.abs(model.transform(X)[::5, 1] - 2 * x[::5]).mean() < 0.3
    model.save(tmp_path / "run")
    assert CPCRegressor.load(tmp_path / "run").score(X, 3.5 * x + 10) > 0.9
    # Numbers without a fraction are classes, as for a classifier.
    classes = CPCImputer(steps=10).fit(X, (x > 0).astype(float))
    classes.save(tmp_path / "classes")
    assert CPCClassifier.load(tmp_path / "classes").classes_.tolist() == [0, 1]


def test_images_are_rows_of_pixels():
    random = np.random.default_rng(0)
    images = (random.random((40, 8, 8)) * 60).astype(np.uint8)
    images[:20, :4] += 150
    images[20:, 4:] += 150
    y = np.repeat(["above", "below"], 20)
    model = CPCClassifier(steps=40, hidden=(40,), code=10, hold_out=False).fit(images, y)
    assert model.score(images, y) > 0.9
    assert model.sample(3).shape == (3, 8, 8)
    with pytest.raises(ValueError, match="images of 8 x 8"):
        model.predict(images.reshape(40, 64))
