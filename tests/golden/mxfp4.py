"""MXFP4 as gpt-oss comes in it. Thread rule: none. Flow: used by tests that make such models."""
import numpy as np


def in_mxfp4(value):
    """[e][k][n] -> blocks [e][n][k / 32][16] and scales [e][n][k / 32], and the values that they stand for."""
    steps = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    rows = value.swapaxes(1, 2).reshape(value.shape[0], value.shape[2], -1, 32)
    exponent = np.floor(np.log2(np.abs(rows).max(-1, keepdims=True) / 6) + 1)
    codes = np.abs(rows[..., None] / 2.0**exponent[..., None] - steps).argmin(-1).astype(np.uint8)
    decoded = (steps[codes] * 2.0**exponent).astype(np.float32).reshape(*rows.shape[:2], -1)
    return codes[..., ::2] | codes[..., 1::2] << 4, (exponent[..., 0] + 127).astype(np.uint8), decoded.swapaxes(1, 2)
