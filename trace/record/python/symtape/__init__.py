"""Records what PyTorch's compiler does in this process, and says what it means.

    import symtape

    with symtape.record("x.tape"):
        model(batch)                        # what is compiled here is on the tape
    print(symtape.diagnose("x.tape"))

record() is for notebooks, services and everything else that cannot be started by `symtape record`.
It works before and after torch is imported, and without torch. `%load_ext symtape` adds the cell
magic %%symtape to IPython; `pytest --symtape DIR` records each test. symtape-python(7) is the
manual.
"""
from typing import Any

from symtape._diagnosis import Diagnosis, diagnose
from symtape._program import Error
from symtape._recording import Recording, record

__all__ = ["Diagnosis", "Error", "Recording", "diagnose", "record"]


def load_ipython_extension(shell: Any) -> None:
    from symtape import _magic
    shell.register_magics(_magic.SymtapeMagics)
