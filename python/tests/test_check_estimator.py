"""scikit-learn's own checks, with the default settings."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from cpcvae import CPCClassifier, CPCImputer, CPCRegressor

#: Checks that cannot pass, and why.
EXPECTED = {
    "CPCClassifier": {
        "check_classifiers_classes": (
            "the classes of its second half are -1 and 1, and -1 means that a row has no label, as "
            "in scikit-learn's own semi-supervised classifiers"
        ),
    },
}


@parametrize_with_checks(
    [CPCClassifier(), CPCRegressor(), CPCImputer()],
    expected_failed_checks=lambda estimator: EXPECTED.get(type(estimator).__name__, {}),
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
