"""The notebooks of the repository run from their first cell to their last."""

import pathlib
import sys

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(path, as_version=4)
    # The interpreter of the tests, whatever kernels are installed elsewhere.
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}})
    client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    client.execute()
    assert all(cell.get("execution_count") for cell in notebook.cells if cell.cell_type == "code")
