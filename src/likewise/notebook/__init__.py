"""Questions, models and results in Jupyter notebooks; needs the extra ``notebook``."""
