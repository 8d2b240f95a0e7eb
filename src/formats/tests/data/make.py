#!/usr/bin/env python3
"""Writes the files of this folder with the formats' own libraries. needs: numpy, safetensors, ml_dtypes"""
import numpy as np
import ml_dtypes
from safetensors.numpy import save_file

x = np.arange(6).reshape(2, 3) / 4 - 0.5
np.save("float64.npy", x)
np.save("float16.npy", np.array([1, -2, 0.5, 65504, 6e-8, 0, np.inf], np.float16))
np.save("big-endian.npy", x.astype(">f4"))
np.save("fortran.npy", np.asfortranarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4)))
np.save("scalar.npy", np.float64(2.5))
np.save("vector.npy", np.array([1, 2], np.uint8))
np.save("empty.npy", np.zeros((0, 3)))
np.save("complex.npy", np.array([1j]))
np.savez("stored.npz", q=x, k=-x)
np.savez_compressed("deflated.npz", q=np.zeros((64, 64), np.float32), k=x)
save_file({"a": x, "b": x.astype(np.float32), "h": x.astype(np.float16), "g": x.astype(ml_dtypes.bfloat16),
           "i": np.array([-1, 2], np.int32), "t": np.array([True, False])}, "mixed.safetensors", {"note": "a \"b\" \u00e9"})
