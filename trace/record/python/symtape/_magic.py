"""%load_ext symtape: the cell magic %%symtape."""
import os
import tempfile

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from symtape import _program
from symtape._recording import Recording


@magics_class
class SymtapeMagics(Magics):
    @magic_arguments()
    @argument("-o", "--output", metavar="TAPE", help="keep the tape as this file")
    @argument("--overwrite", action="store_true", help="replace the file")
    @argument("--deep", metavar="LEVEL", nargs="?", const="all",
              help="record deeply: counts, graphs or all (default)")
    @cell_magic
    def symtape(self, line: str, cell: str) -> None:
        """Run the cell, and show why its compiles failed or took their time."""
        args = parse_argstring(self.symtape, line)
        with tempfile.TemporaryDirectory(prefix="symtape-cell-") as folder:
            tape = args.output or os.path.join(folder, "cell.tape")
            recording = Recording(tape, deep=args.deep or False, overwrite=args.overwrite)
            try:
                recording.start()
                try:
                    result = self.shell.run_cell(cell)
                finally:
                    report = recording.finish()
                if not report.get("tape"):
                    print("symtape: the cell compiled nothing")
                else:
                    display(recording.diagnose())
            except _program.Error as error:
                raise UsageError(f"symtape: {error}") from None
        if not result.success:
            raise UsageError("symtape: the cell failed, as shown above")
