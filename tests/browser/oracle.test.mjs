// The suite's own oracle against the golden values, which come from JAX: what tests the tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, npz, safetensors } from './lib/files.mjs';
import { near, sameMatrix } from './lib/near.mjs';
import { attention, jacobian, product, rowGradient, slopes, stream } from './lib/oracle.mjs';

const TOLERANCE = 1e-12;

/** A case of cases.json in the oracle's words, for one head. */
function options(c, head) {
  const align = c.causal;
  return {
    scale: c.scale,
    soft_cap: c.softcap,
    qk_norm: c.qk_norm,
    sink: c.sink?.[head],
    slope: c.alibi ? slopes(c.h)[head] : undefined,
    rope: c.rope && {
      layout: c.rope,
      dims: c.rope_dims,
      base: c.theta,
      q_offset: c.q_offset,
      scaling: c.rope_scaling?.kind,
      factor: c.rope_scaling?.factor,
    },
    mask: {
      causal: align && { align, prefix: c.prefix },
      window: c.window === undefined ? undefined : { size: c.window, keep_first: c.keep_first },
      padding: c.key_length === undefined ? undefined : { key_length: c.key_length },
    },
  };
}

test('the oracle gives every golden value', async () => {
  const cases = await json('golden/cases.json');
  const tensors = await safetensors('golden/golden.safetensors');
  assert.equal(cases.length, 33);
  for (const c of cases) {
    const t = (name) => tensors[`${c.name}/${name}`];
    for (let head = 0; head < c.h; head += 1) {
      const kv = Math.floor(head / (c.h / c.g));
      const got = attention({ q: t('q')[head], k: t('k')[kv], v: t('v')[kv], ...options(c, head) });
      const name = `${c.name}, head ${head}`;
      // Scores of thousands keep as many digits, not as many decimals.
      sameMatrix(got.q_used, t('q_pos')[head], `${name}: q_pos`, TOLERANCE);
      sameMatrix(got.S, t('scores')[head], `${name}: scores`, TOLERANCE);
      sameMatrix(got.A, t('probs')[head], `${name}: probs`, 1e-11);
      sameMatrix(got.O, t('out')[head], `${name}: out`, 1e-11);
      got.rows.forEach((row, i) => {
        near(row.lse, t('lse')[head][i], `${name}: lse ${i}`, TOLERANCE);
        near(row.entropy, t('entropy')[head][i], `${name}: entropy ${i}`, 1e-11);
        const gradient = rowGradient(row.weights, t('v')[kv], t('d_out')[head][i]);
        sameMatrix([gradient], [t('d_scores')[head][i]], `${name}: d_scores ${i}`, 1e-11);
        const byJacobian = product([t('v')[kv].map((value) => value.reduce((s, x, c2) => s + x * t('d_out')[head][i][c2], 0))], jacobian(row.weights));
        sameMatrix(byJacobian, [gradient], `${name}: Jacobian of row ${i}`, 1e-11);
        near(row.jacobian_norm, Math.hypot(...jacobian(row.weights).flat()), `${name}: norm ${i}`, 1e-7);
      });
    }
  }
});

test('the oracle gives the outputs of a real model', async () => {
  const inputs = await npz('minilm/coreference.npz');
  const exact = await npz('minilm/coreference-exact.npz');
  const [q, k, v, out] = [inputs.q, inputs.k, inputs.v, exact.out ?? inputs.out];
  q.forEach((layer, l) =>
    layer.forEach((head, h) => {
      const got = attention({ q: head, k: k[l][h], v: v[l][h] });
      sameMatrix(got.O, out[l][h], `layer ${l}, head ${h}`, 1e-12);
    }),
  );
});

test('slopes of ALiBi for six heads are those of the published code', () => {
  assert.deepEqual(slopes(8), [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]);
  assert.deepEqual(slopes(6), [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]);
});

test('the stream begins as documented', () => {
  const next = stream(7);
  const numbers = Array.from({ length: 10_000 }, next);
  const mean = numbers.reduce((a, b) => a + b) / numbers.length;
  assert.ok(Math.abs(mean) < 0.03, `mean ${mean}`);
});
