"""What happens while a model is trained: signals, threads, logs, callbacks."""

import logging
import os
import signal
import threading
import time

import numpy as np
import pytest

from cpcvae import CPCClassifier


def long(**more):
    """More steps than the test waits for."""
    return CPCClassifier(steps=10_000_000, hold_out=False, **more)


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt even where a shell has started the tests in the background, which
    makes a process ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_a_fit_which_goes_on_from_its_folder(clouds, tmp_path, interruptible):
    X, y, _ = clouds
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        long(folder=tmp_path / "run").fit(X, y)
    timer.join()
    assert (tmp_path / "run" / "checkpoints").is_dir()
    with pytest.raises(OSError, match="there is a run"):
        long(folder=tmp_path / "run").fit(X, y)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        long(folder=tmp_path / "run", resume=True).fit(X, y)
    timer.join()
    # The interpreter is intact, and the next fit is not stopped.
    assert CPCClassifier(steps=5, hold_out=False).fit(X, y).predict(X).shape == (120,)


def test_other_threads_go_on_during_a_fit(clouds):
    X, y, _ = clouds
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    CPCClassifier(steps=300, hold_out=False).fit(X, y)
    done.set()
    thread.join()
    assert turns[0] > 10


def test_fits_in_threads_do_not_mix(clouds):
    X, y, _ = clouds
    asked = {seed: CPCClassifier(steps=30, hold_out=False, random_state=seed).fit(X, y) for seed in (1, 2)}
    found = {}

    def fit(seed):
        found[seed] = CPCClassifier(steps=30, hold_out=False, random_state=seed).fit(X, y)

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        np.testing.assert_array_equal(found[seed].predict_proba(X), asked[seed].predict_proba(X))


def test_a_fit_is_logged(clouds, caplog):
    X, y, _ = clouds
    with caplog.at_level(logging.DEBUG, logger="cpcvae"):
        CPCClassifier(steps=30, folds=2).fit(X, y)
    said = caplog.text
    assert "holding labels out" in said and "training cpc" in said and "loss" in said


def test_a_bar_is_shown_where_it_is_asked_for(clouds, capsys):
    pytest.importorskip("tqdm")
    X, y, _ = clouds
    CPCClassifier(steps=30, hold_out=False, verbose=1).fit(X, y)
    assert "30/30" in capsys.readouterr().err
    CPCClassifier(steps=30, hold_out=False).fit(X, y)
    assert capsys.readouterr().err == ""


def test_callbacks_of_scikit_learn_hear_every_step(clouds):
    pytest.importorskip("sklearn.callback")
    X, y, _ = clouds
    heard = []

    class Ears:
        def setup(self, estimator, context):
            heard.append("setup")

        def teardown(self, estimator, context):
            heard.append("teardown")

        def on_fit_task_begin(self, estimator, context, **more):
            pass

        def on_fit_task_end(self, estimator, context, **more):
            heard.append(context.task_name)

    CPCClassifier(steps=30, hold_out=False).set_callbacks(Ears()).fit(X, y)
    assert heard[0] == "setup" and heard[-1] == "teardown"
    assert heard.count("step") >= 3 and heard.count("fit") == 1


def test_an_error_of_a_listener_ends_the_fit(clouds):
    from cpcvae import _native
    from cpcvae._rows import table_of

    X, y, _ = clouds
    table = table_of(CPCClassifier(), X, reset=True)
    table.classes("label", ["0", "1"], y.tolist())

    class Upset:
        def __getattr__(self, name):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _native.fit(table, long()._asked(), Upset())
