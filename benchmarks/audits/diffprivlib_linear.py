"""Fits diffprivlib's LinearRegression, for `dpglm audit --command`: reads a CSV whose last column is the target, writes JSON.

    python diffprivlib_linear.py DATA.csv OUTPUT.json EPSILON

With bounds (0, 1) version 0.6.6 takes the sensitivity of a squared feature from its lower bound alone, which is 0: the
diagonal of the Gram matrix gets no noise.
"""

import json
import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression

data, output, epsilon = sys.argv[1], sys.argv[2], float(sys.argv[3])
table = np.loadtxt(data, delimiter=",", skiprows=1, ndmin=2)
warnings.simplefilter("ignore")
model = LinearRegression(epsilon=epsilon, bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False)
model.fit(table[:, :-1], table[:, -1])
with open(output, "w") as file:
    json.dump({"coefficients": [float(b) for b in model.coef_]}, file)
