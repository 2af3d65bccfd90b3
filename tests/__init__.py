"""The tests; helpers is imported before NumPy, so that its one BLAS thread holds here too."""

import helpers
