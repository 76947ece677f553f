"""What the suites share that check symtape's predictions against the live PyTorch."""
import json
import subprocess
import types


def copy_of(fn):
    """A code object of its own, for Dynamo to give it a frame id of its own."""
    return types.FunctionType(fn.__code__.replace(), fn.__globals__, fn.__name__)


def ask(symtape, *args):
    done = subprocess.run([symtape, "replay", "--json", *args], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"symtape replay {args}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def recorded_guards(symtape, selected):
    """The guards of a compile in the order in which they were added."""
    rows = ask(symtape, "--guards", selected)["guards"]["list"]
    return [row["expr"] for row in rows if row["outcome"] != "extra" and row["kind"] == "guard"]


def report(name, same, only_torch, only_symtape):
    print(f"{'ok' if same else 'not ok'} - {name}")
    if not same:
        print(f"    only PyTorch: {only_torch}\n    only symtape: {only_symtape}")
    return same
