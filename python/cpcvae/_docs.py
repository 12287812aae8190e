"""Common parts of the estimators' docstrings."""

COMMON = """\

    Every parameter is None for the library's default, which may depend on the data.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed of split, weights, batches and noise; 0 by default. The same rows and
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
        Kinds of columns, instead of guesses: ``{"size": "number"}``; number, flag, category,
        count or ignore.
    missing_cells : bool
        Whether new rows may have missing cells although training rows have none.
    validation : float
        Validation rows: a share below 1, or a number.
    hold_out, folds : bool, int
        Whether, and in how many folds, labels are held out to calibrate probabilities and sets.
    baselines : bool
        Whether baselines are trained on the same folds, for :meth:`compare`.
    budget : float
        The time for everything, in seconds.
    preset : {"default", "paper"}
        Our defaults, or the paper's.
    precision : {"auto", "f32", "bf16"}
        Precision of large products on the CPU.
    device : {"cpu", "wgpu", "cuda", "metal"}
        The device, if this build supports it.
    folder, resume : path, bool
        The run folder, written during training; whether a stopped fit of the same rows there is
        resumed.
    settings : dict
        Any other setting by its key: ``{"train.clip_norm": 10}``. ``docs/methods`` lists them all.
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
        The reports of training and of held-out labels.
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
        The reports of training and of held-out labels.
    settings_ : dict
        The complete settings.
"""
