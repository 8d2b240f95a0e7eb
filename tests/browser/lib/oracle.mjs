// Attention in plain JavaScript, float64, written from the definitions and sharing nothing with the engine: what the
// numbers of the page are held against. `oracle.test.mjs` holds it against tests/golden, whose values come from JAX.

/** The stream of the seeded sources: Park and Miller's minimal standard generator, cosine half of Box and Muller. */
export function stream(seed) {
  let x = seed;
  const uniform = () => {
    x = (x * 16807) % 2147483647;
    return x / 2147483647;
  };
  for (let i = 0; i < 10; i += 1) uniform();
  return () => {
    const [u1, u2] = [uniform(), uniform()];
    return Math.sqrt(-2 * Math.log(u1)) * Math.cos(2 * Math.PI * u2);
  };
}

/** rows × cols numbers of a stream, times a factor. */
export function drawn(next, rows, cols, factor = 1) {
  return Array.from({ length: rows }, () => Array.from({ length: cols }, () => next() * factor));
}

/** Q, K, V of all heads from a seed, in the order of the page: { q: [head][row][col], k, v }. */
export function random({ n_q, n_k, d_k, d_v, heads = 1, kv_heads = heads, seed = 7, sigma = 1 }) {
  const next = stream(seed);
  const all = (count, rows, cols) => Array.from({ length: count }, () => drawn(next, rows, cols, sigma));
  return { q: all(heads, n_q, d_k), k: all(kv_heads, n_k, d_k), v: all(kv_heads, n_k, d_v) };
}

/** X and the projections from a seed: { x, w_q: [head], w_k: [kv], w_v: [kv] }. */
export function tokens({ n = 6, d_model = 8, d_k = 4, d_v = 4, heads = 1, kv_heads = heads, seed = 7 }) {
  const next = stream(seed);
  const x = drawn(next, n, d_model);
  const all = (count, cols) => Array.from({ length: count }, () => drawn(next, d_model, cols, 1 / Math.sqrt(d_model)));
  return { x, w_q: all(heads, d_k), w_k: all(kv_heads, d_k), w_v: all(kv_heads, d_v) };
}

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const column = (m, j) => m.map((row) => row[j]);
export const transpose = (m) => (m[0] ?? []).map((_, j) => column(m, j));
export const product = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, x, l) => sum + x * b[l][j], 0)));

/** Sinusoidal positions added to tokens: sin in even columns, cos in odd ones, frequencies falling by the base. */
export function sinusoidal(x, base = 10000) {
  const width = x[0].length;
  return x.map((row, place) =>
    row.map((value, c) => {
      const angle = place / base ** ((2 * Math.floor(c / 2)) / width);
      return value + (c % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
    }),
  );
}

/** Each row divided by its root mean square, √(mean square + ε). */
export function rmsNorm(rows, epsilon) {
  return rows.map((row) => {
    const root = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0) / row.length + epsilon);
    return row.map((x) => x / root);
  });
}

/** RoPE. `layout`: interleaved or half; `dims`: so many first components turn; `scaling`: none, linear or ntk. */
export function rotate(rows, { layout, dims = rows[0].length, base = 10000, scaling = 'none', factor = 1 }, offset = 0) {
  const theta = scaling === 'ntk' ? base * factor ** (dims / (dims - 2)) : base;
  return rows.map((row, i) => {
    const turned = [...row];
    for (let pair = 0; pair < dims / 2; pair += 1) {
      const [a, b] = layout === 'half' ? [pair, pair + dims / 2] : [2 * pair, 2 * pair + 1];
      const angle = ((offset + i) * theta ** ((-2 * pair) / dims)) / (scaling === 'linear' ? factor : 1);
      turned[a] = row[a] * Math.cos(angle) - row[b] * Math.sin(angle);
      turned[b] = row[a] * Math.sin(angle) + row[b] * Math.cos(angle);
    }
    return turned;
  });
}

/** ALiBi's slopes for any number of heads: a power of two as the paper has it, the rest from twice as many. */
export function slopes(heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  const of = (n) => Array.from({ length: n }, (_, i) => 2 ** ((-8 * (i + 1)) / n));
  const rest = of(2 * power).filter((_, i) => i % 2 === 0);
  return [...of(power), ...rest].slice(0, heads);
}

/**
 * Which key a query sees. `mask`: { causal: { align, prefix }, window: { size, keep_first }, padding: { key_length },
 * drawn: [[bool]] }, each of them optional.
 */
export function visible({ causal, window, padding, drawn: byHand } = {}, n_q, n_k) {
  const shift = causal?.align === 'bottom_right' ? n_k - n_q : 0;
  return Array.from({ length: n_q }, (_, i) =>
    Array.from({ length: n_k }, (_, j) => {
      const place = i + shift;
      if (causal && j > place && j >= (causal.prefix ?? 0)) return false;
      if (window && place - j >= window.size && j >= (window.keep_first ?? 0)) return false;
      if (padding && j >= padding.key_length) return false;
      return byHand ? byHand[i][j] : true;
    }),
  );
}

/**
 * One head. `q`, `k`, `v`: rows. Options: scale, soft_cap, qk_norm, sink, rope { …, q_offset, k_offset }, slope
 * (ALiBi), mask (see `visible`), hidden (a number in place of −∞).
 *
 * Gives q_used, k_used, S (before the mask), M, A, O and for each row lse, entropy, row_sum, top, jacobian_norm …
 */
export function attention({ q, k, v, scale, soft_cap, qk_norm, sink, rope, slope, mask, hidden = -Infinity }) {
  const [n_q, n_k, d_k] = [q.length, k.length, q[0].length];
  let [qu, ku] = [q, k];
  if (qk_norm !== undefined) [qu, ku] = [rmsNorm(qu, qk_norm), rmsNorm(ku, qk_norm)];
  if (rope) [qu, ku] = [rotate(qu, rope, rope.q_offset ?? 0), rotate(ku, rope, rope.k_offset ?? 0)];
  const factor = scale ?? 1 / Math.sqrt(d_k);
  const S = qu.map((query, i) =>
    ku.map((key, j) => {
      let score = dot(query, key) * factor;
      if (soft_cap !== undefined) score = soft_cap * Math.tanh(score / soft_cap);
      if (slope !== undefined) score -= slope * Math.abs(i - j);
      return score;
    }),
  );
  const sees = visible(mask, n_q, n_k);
  const M = sees.map((row) => row.map((seen) => (seen ? 0 : hidden)));
  const rows = S.map((scores, i) => softmaxRow(scores, sees[i], hidden, sink));
  const A = rows.map((row) => row.weights);
  const O = A.map((weights) => v[0].map((_, c) => weights.reduce((sum, w, j) => sum + w * v[j][c], 0)));
  return { q_used: qu, k_used: ku, S, M, A, O, rows, sees };
}

/** Softmax of one row, with what there is to say about it. A row that sees nothing has weights 0. */
export function softmaxRow(scores, sees, hidden = -Infinity, sink) {
  // A finite stand-in is added to the score, as −1e9 and −1e4 are in practice.
  const logits = scores.map((s, j) => (sees[j] ? s : hidden === -Infinity ? -Infinity : s + hidden));
  const seen = sees.some(Boolean) || hidden !== -Infinity;
  const top = Math.max(...logits, sink ?? -Infinity);
  if (!seen && sink === undefined) {
    return { weights: scores.map(() => 0), lse: -Infinity, entropy: 0, row_sum: 0, top_weight: 0, top_key: 0, jacobian_norm: 0, sink_weight: 0, visible: 0 };
  }
  const e = logits.map((l) => Math.exp(l - top));
  const rest = sink === undefined ? 0 : Math.exp(sink - top);
  const total = e.reduce((a, b) => a + b, 0) + rest;
  const weights = e.map((x) => x / total);
  const squares = weights.reduce((sum, w) => sum + w * w, 0);
  const cubes = weights.reduce((sum, w) => sum + w * w * w, 0);
  const top_weight = Math.max(...weights);
  return {
    weights,
    lse: top + Math.log(total),
    entropy: -weights.reduce((sum, w) => sum + (w > 0 ? w * Math.log(w) : 0), 0),
    row_sum: weights.reduce((a, b) => a + b, 0),
    top_weight,
    top_key: weights.indexOf(top_weight),
    // |diag(a) − aaᵀ|² = Σ a² − 2 Σ a³ + (Σ a²)²
    jacobian_norm: Math.sqrt(Math.max(0, squares - 2 * cubes + squares * squares)),
    sink_weight: rest / total,
    visible: sees.filter(Boolean).length,
  };
}

/** The Jacobian diag(a) − aaᵀ of a row of weights. */
export const jacobian = (a) => a.map((x, i) => a.map((y, j) => (i === j ? x : 0) - x * y));

/** Gradient at the scores of a row, of a gradient at its output: a_j (d_out·v_j − Σ a (d_out·v)). */
export function rowGradient(weights, v, d_out) {
  const pulls = v.map((value) => dot(d_out, value));
  const mean = dot(weights, pulls);
  return weights.map((w, j) => w * (pulls[j] - mean));
}

/** Means over the rows that see a key. */
export function summary({ rows, A, sees }, hidden = -Infinity) {
  const seeing = rows.filter((_, i) => hidden !== -Infinity || sees[i].some(Boolean));
  const mean = (of) => (seeing.length ? seeing.reduce((sum, row) => sum + of(row), 0) / seeing.length : 0);
  const received = (A[0] ?? []).map((_, j) => (seeing.length ? column(A, j).reduce((a, b) => a + b, 0) / seeing.length : 0));
  return {
    mean_top_weight: mean((r) => r.top_weight),
    mean_jacobian_norm: mean((r) => r.jacobian_norm),
    top_column: Math.max(...received),
  };
}
