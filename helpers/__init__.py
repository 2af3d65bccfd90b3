"""What the notebooks of the course import: layers, experiments, pictures and their controls."""

import os

# The matrices of the course are small: a second BLAS thread costs five times more than it saves.
# It must be said before NumPy is first imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

__version__ = "1.0.0"
