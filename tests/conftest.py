"""For all tests: helpers is imported before NumPy, so that its one BLAS thread holds."""

import helpers  # noqa: F401
