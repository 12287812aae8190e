"""What the estimators' descriptions share."""

COMMON = """\

    Every parameter is None for the library's default, which may depend on the data.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed of split, weights, batches and noise; 0 where nothing is said. The same rows and
        settings give the same model.
    steps : int
        Steps of training (``train.steps``).
    learning_rate : float
        Adam's step size (``train.learning_rate``).
    code : int
        Dimensions of the code (``model.code``).
    hidden : sequence of int
        Units of the encoder's dense layers; the decoder mirrors them (``model.hidden``).
    columns : dict
        Kinds of columns that are not to be guessed: ``{"size": "number"}``; number, flag, category,
        count or ignore.
    missing_cells : bool
        Whether rows that are asked about may have missing cells though training rows have none.
    validation : float
        Rows kept for validation: a share below 1, or a number.
    hold_out, folds : bool, int
        Whether, and in how many folds, labels are held out to calibrate probabilities and sets.
    baselines : bool
        Whether baselines are trained on the same folds, for :meth:`compare`.
    budget : float
        Seconds that everything may take.
    preset : {"default", "paper"}
        Whose defaults.
    precision : {"auto", "f32", "bf16"}
        How exact large products are on the CPU.
    device : {"cpu", "wgpu", "cuda", "metal"}
        Where to compute, as far as it was built in.
    folder, resume : path, bool
        Where everything is kept while training, the folder of a run; whether a fit of the same rows
        that was stopped there goes on.
    settings : dict
        Any other setting by its key: ``{"train.clip_norm": 10}``. ``docs/methods`` has them all.
    verbose : int
        1 shows a progress bar, if tqdm is installed.
"""

CLASSIFIED = """
    Attributes
    ----------
    classes_ : ndarray
        The classes, in order.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of features.
    history_ : list of dict
        Every term of the objective over time.
    report_ : dict
        What training did, and what was found on held-out labels.
    settings_ : dict
        The complete settings.
"""

PREDICTED = """
    Attributes
    ----------
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of features.
    history_ : list of dict
        Every term of the objective over time.
    report_ : dict
        What training did, and what was found on held-out labels.
    settings_ : dict
        The complete settings.
"""
