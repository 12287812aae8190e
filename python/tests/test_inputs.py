"""Rows in all supported Python formats."""

import numpy as np
import pytest

from cpcvae import CPCClassifier, CPCImputer

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
sparse = pytest.importorskip("scipy.sparse")


@pytest.fixture(scope="module")
def table():
    """A frame with columns of several kinds, and its labels."""
    random = np.random.default_rng(0)
    class_ = np.arange(120) % 2
    frame = pandas.DataFrame(
        {
            "size": random.normal(0, 1, 120) + 3 * class_,
            "colour": np.array(["red", "green", "blue"])[random.integers(0, 3, 120)],
            "old": random.random(120) < 0.2 + 0.6 * class_,
            "seen": pandas.Timestamp("2024-01-01")
            + pandas.to_timedelta(random.integers(0, 300, 120), "D"),
        }
    )
    frame.loc[3, "size"] = np.nan
    labels = np.where(np.arange(120) % 4 < 2, np.array(["b", "a"])[class_], None)
    return frame, labels


def model():
    return CPCClassifier(steps=30, hold_out=False)


def test_all_frames_give_the_same_model(table):
    frame, labels = table
    asked = model().fit(frame, labels).predict_proba(frame)
    kinds = model().fit(frame, labels)._columns()
    assert [next(iter(c["kind"])) if isinstance(c["kind"], dict) else c["kind"] for c in kinds] == [
        "number", "category", "flag", "number",
    ]
    forms = {
        "polars": polars.from_pandas(frame),
        "pyarrow": pyarrow.Table.from_pandas(frame, preserve_index=False),
        "categories": frame.astype({"colour": "category"}),
        "arrow types": frame.convert_dtypes(dtype_backend="pyarrow"),
        "an index": frame.set_index(np.arange(120) * 3),
        "chunks": pyarrow.concat_tables(
            pyarrow.Table.from_pandas(part, preserve_index=False) for part in (frame[:50], frame[50:])
        ),
    }
    for name, form in forms.items():
        fitted = model().fit(form, labels)
        np.testing.assert_array_equal(fitted.predict_proba(form), asked, err_msg=name)
        assert list(fitted.feature_names_in_) == list(frame.columns), name


def test_pandas_works_without_pyarrow(table, monkeypatch):
    frame, labels = table
    asked = model().fit(frame, labels).predict_proba(frame)

    def without(self, requested_schema=None):
        raise ImportError("no pyarrow here")

    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", without)
    np.testing.assert_array_equal(model().fit(frame, labels).predict_proba(frame), asked)


def test_labels_come_in_all_forms_too(table):
    frame, labels = table
    asked = model().fit(frame, labels).predict_proba(frame)
    for form in (
        pandas.Series(labels, name="kind"),
        pandas.Series(labels, dtype="category"),
        polars.Series("kind", list(labels)),
        pyarrow.array(list(labels)),
        list(labels),
    ):
        np.testing.assert_array_equal(model().fit(frame, form).predict_proba(frame), asked)


def test_columns_are_held_to_their_names(table):
    frame, labels = table
    fitted = model().fit(frame, labels)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="now missing"):
        fitted.predict(frame.drop(columns="old"))


def test_made_rows_have_levels_by_name(table):
    frame, labels = table
    made = model().fit(frame, labels).sample(10)
    assert set(made[:, 1]) <= {"red", "green", "blue"}
    gaps = frame.copy()
    gaps.loc[5, "colour"] = None
    filled = CPCImputer(steps=30).fit(gaps).transform(gaps)
    assert filled[5, 1] in {"red", "green", "blue"} and filled[4, 1] == gaps.loc[4, "colour"]


def test_declared_kinds_are_not_guessed():
    X = np.array([[place % 2, place] for place in range(60)])
    y = np.arange(60) % 2
    guessed = model().fit(X, y)
    declared = CPCClassifier(steps=30, hold_out=False, columns={"x0": "number"}).fit(X, y)
    assert [m._columns()[0]["kind"] for m in (guessed, declared)] == ["flag", "number"]


def test_sparse_and_dense_rows_are_the_same():
    random = np.random.default_rng(0)
    X = (random.random((80, 30)) < 0.2) * random.normal(5, 1, (80, 30)).astype(np.float32)
    y = np.arange(80) % 2
    X[y == 1, 0] += 4
    asked = model().fit(X, y).predict_proba(X)
    for form in (sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_array(X)):
        fitted = model().fit(form, y)
        np.testing.assert_array_equal(fitted.predict_proba(form), asked)


def test_cells_of_anndata_are_rows():
    anndata = pytest.importorskip("anndata")
    random = np.random.default_rng(0)
    counts = random.poisson(2.0, (80, 12)).astype(np.float32)
    kinds = np.array(["B", "T"])[np.arange(80) % 2]
    counts[kinds == "T", :4] += 9
    cells = anndata.AnnData(
        sparse.csr_matrix(counts),
        obs=pandas.DataFrame({"kind": kinds}, index=[f"cell{i}" for i in range(80)]),
        var=pandas.DataFrame(index=[f"gene{i}" for i in range(12)]),
    )
    known = cells.obs["kind"].where(np.arange(80) % 4 < 2)
    fitted = model().fit(cells, known)
    assert fitted._names() == list(cells.var_names)
    assert fitted.score(cells, cells.obs["kind"]) > 0.9
    cells.obsm["X_cpc"] = fitted.transform(cells)


def test_memory_that_may_not_be_written_is_read(clouds):
    X, y, _ = clouds
    X, y = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    assert model().fit(X, y).predict(X).shape == (120,)


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (np.zeros((3, 0)), [0, 1, 0], "0 feature"),
        ([[1.0], [2.0], [3.0]], [0, 1], "inconsistent numbers of samples"),
        ([[1.0], [2.0], [3.0]], [-1, -1, -1], "no row of y has a label"),
        ([[1.0], [2.0], [3.0]], [1, -1, 1], "-1 means that a row has no label"),
        ([[1.0], [np.inf], [3.0]], [1, 0, 1], "infinity"),
    ],
)
def test_what_cannot_be_is_told(X, y, said):
    with pytest.raises(ValueError, match=said):
        model().fit(X, y)
