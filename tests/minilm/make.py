#!/usr/bin/env python3
"""Cuts layers 3 and 4 of one sentence out of a capture of all-MiniLM-L6-v2.

usage: make.py CAPTURE_DIR        needs: numpy

coreference.npz        q, k, v float32 and out float64 [layer 2, head 12, n 16, 32], as captured
coreference-exact.npz  out float64: softmax(q kᵀ / √32) v of the q, k, v as they stand in the file. The captured `out`
                       was computed before q, k and v were rounded to float32, and differs in the eighth digit.
tokens.json            the word pieces
"""
import json, math, sys
from pathlib import Path
import numpy as np

src, here = Path(sys.argv[1]), Path(__file__).parent
z = np.load(src / "coreference.npz")
cut = {name: z[name][3:5] for name in ("q", "k", "v", "out")}
np.savez_compressed(here / "coreference.npz", **cut)
q, k, v = (cut[name].astype(np.float64) for name in "qkv")
s = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
e = np.exp(s - s.max(-1, keepdims=True))
np.savez_compressed(here / "coreference-exact.npz", out=e / e.sum(-1, keepdims=True) @ v)
tokens = json.loads((src / "tokens.json").read_text())["coreference"]
(here / "tokens.json").write_text(json.dumps({"coreference": tokens}, ensure_ascii=False) + "\n")
