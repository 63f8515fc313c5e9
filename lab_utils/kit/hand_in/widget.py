"""The packer in a notebook: two fields for the name, a button, the report, the zip."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from lab_utils.kit import hand_in
from lab_utils.kit.course import Assignment
from lab_utils.kit.errors import LabError
from lab_utils.kit.hand_in.inspection import inspect
from lab_utils.kit.hand_in.owner import owner_called, remembered
from lab_utils.kit.machine.colab import save_open_notebook
from lab_utils.kit.machine.terminal import typed


def show(lab: Assignment, folder: Path) -> None:
    """Display the packer for ``lab``, whose notebooks lie in ``folder``."""
    from IPython.display import display

    from lab_utils.kit.charts.drawn import drawing_of_words
    from lab_utils.kit.charts.live import Live

    shown = Live()
    shown.widget = packer(lab, folder)
    shown.static = drawing_of_words(
        f"Hand in {lab.label} with the button here once the notebook runs, or in a terminal with: "
        f"{typed(f'pack {lab.id}')}"
    )
    display(shown)


def packer(lab: Assignment, folder: Path) -> Any:
    """The widget; its children are first and last name, two buttons, progress and report."""
    import ipywidgets

    known = remembered()
    first = ipywidgets.Text(known.first if known else "", description="First name")
    last = ipywidgets.Text(known.last if known else "", description="Last name")
    check = ipywidgets.Button(
        description=f"Check and pack {lab.label}",
        button_style="primary",
        layout={"width": "auto"},  # the default cuts the text
    )
    anyway = ipywidgets.Button(description="Pack as it is", layout={"display": "none"})
    progress = ipywidgets.Label("Save all notebooks first; then press the button.")
    output = ipywidgets.Output()

    def tell(text: str) -> None:
        progress.value = text

    def go(pressed: Any) -> None:
        check.disabled = anyway.disabled = True
        output.clear_output()
        with output:
            try:
                owner = owner_called(first.value, last.value)
                if "google.colab" in sys.modules:
                    tell("reading the open notebook")
                    save_open_notebook(folder)
                report = inspect(lab, folder, tell)
                print(report)
                anyway.layout.display = "none" if report.ready else "inline-block"
                path = hand_in.pack(lab, folder, owner, report, anyway=pressed is anyway)
                print(f"\nWritten, opened again and compared: {path}\n{hand_in.contents(path)}")
                _hand_over(path)
                tell(f"Done: upload {path.name}")
            except LabError as error:
                print(f"\n{error}")
                tell("Not packed: see below.")
            except OSError as error:
                print(f"\n{error}")
                tell("Not packed: see below.")
            except KeyboardInterrupt:
                tell("Stopped: nothing was packed.")
            finally:
                check.disabled = anyway.disabled = False

    check.on_click(go)
    anyway.on_click(go)
    buttons = ipywidgets.HBox([check, anyway])
    return ipywidgets.VBox([first, last, buttons, progress, output])


def _hand_over(path: Path) -> None:
    """On Colab the browser downloads the zip; elsewhere a link shows where it lies."""
    if colab := sys.modules.get("google.colab"):
        colab.files.download(str(path))
        return
    from IPython.display import FileLink, display

    # Relative to the notebook: the browser knows no other path.
    display(FileLink(os.path.relpath(path), result_html_prefix="Download: "))
