"""The build backend of pyproject.toml: meson-python, with another Python tag on the wheel.

meson-python names a wheel after the Python that builds it (cp311-abi3). Ours holds one extension
module, which is built for the limited API of Python 3.10 (trace/record/deep/agent.h), so the wheel
serves every Python from there on.
"""
import os
import subprocess
import sys

import mesonpy
from mesonpy import *  # noqa: F401,F403

OLDEST_PYTHON = "cp310"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    done = subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", OLDEST_PYTHON,
                           os.path.join(wheel_directory, name)],
                          check=True, stdout=subprocess.PIPE, text=True)
    return os.path.basename(done.stdout.strip())
