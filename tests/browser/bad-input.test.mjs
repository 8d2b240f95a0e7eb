// What bad input gets: a sentence in place (expected, got, what to do), the last good picture stays, nothing is lost,
// no NaN on the screen, no panic in the console.

import assert from 'node:assert/strict';
import { afterEach, before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { random } from './lib/oracle.mjs';

const SHAPE = { n_q: 4, n_k: 5, d_k: 4, d_v: 3, heads: 1 };

let bench;
let given;

before(async () => {
  bench = await open();
  await bench.random(SHAPE);
  const all = random(SHAPE);
  given = { q: all.q[0], k: all.k[0], v: all.v[0] };
});

beforeEach(() => bench.reset());

afterEach(() => bench.sound());

/** The sentence names what was expected and got, ends in advice, and belongs to its field for screen readers. */
async function refused(field, pattern, name = field) {
  const sentence = await bench.problem(field);
  assert.ok(sentence, `no sentence at ${field}`);
  assert.match(sentence, pattern);
  const described = await bench.eval((n) => {
    const input = document.querySelector(`input[data-name="${n}"]`);
    if (!input) return null;
    const ids = (input.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean);
    return { invalid: input.getAttribute('aria-invalid'), words: ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ') };
  }, name);
  if (described) {
    assert.equal(described.invalid, 'true', `${name} is marked as wrong`);
    assert.ok(described.words.trim().length > 10, `${name} is described by its sentence`);
  }
  return sentence;
}

/** Types into a field what it must refuse; the numbers stay, Escape brings the old text back. */
async function refuses(name, text, pattern, options = {}) {
  const was = await bench.field(name);
  await bench.set(name, text);
  await refused(options.field ?? name, pattern, name);
  assert.equal(await bench.field(name), text, 'what was typed stays to be mended');
  if (options.stays !== false) await agrees(bench, options.stays ?? { given }, `after ${name} = ${text}`);
  const field = await bench.reach(`input[data-name="${name}"]`);
  await field.sendKeys(Key.ESCAPE);
  await bench.settled();
  assert.equal(await bench.problem(options.field ?? name), null, 'Escape takes the sentence away');
  assert.equal(await bench.field(name), was, 'Escape brings back what was');
}

test('a cell that is no number', async () => {
  await bench.cell('Q', 1, 1);
  await bench.key(Key.ENTER);
  await bench.key(Key.chord(Key.CONTROL, 'a'), '0.5x', Key.ENTER);
  const sentence = await refused('cell', /0\.5x/, 'cell-editor');
  assert.match(sentence, /Esc brings back/);
  assert.equal(await bench.field('cell-editor'), '0.5x', 'the text stays to be mended');
  await bench.key(Key.ESCAPE);
  await agrees(bench, { given }, 'nothing changed');
  for (const text of ['', 'nan', '1e999', '--1', '1 2']) {
    await bench.cell('Q', 1, 1);
    await bench.key(Key.ENTER);
    await bench.key(Key.chord(Key.CONTROL, 'a'), Key.DELETE);
    await bench.key(...text, Key.ENTER);
    const open = await bench.has('[data-name="cell-editor"]');
    assert.ok(open ? await bench.problem('cell') : await bench.problem('Q'), `“${text}” gets a sentence`);
    if (open) await bench.key(Key.ESCAPE);
    await bench.leave();
    await agrees(bench, { given }, `after “${text}”`);
  }
});

test('a cell mended after its sentence', async () => {
  await bench.cell('V', 0, 0);
  await bench.key('1', 'x', Key.ENTER);
  assert.ok(await bench.problem('cell'));
  await bench.key(Key.BACK_SPACE, Key.ENTER);
  const mended = structuredClone(given);
  mended.v[0][0] = 1;
  await bench.leave();
  await agrees(bench, { given: mended });
});

test('a pasted block of the wrong shape', async () => {
  await bench.paste('Q', '1\t2\t3\t4\t5');
  await refused('Q', /expected at most 4 × 4 .*got 1 × 5/);
  await agrees(bench, { given }, 'too wide');
  await bench.paste('Q', '1\n2\n3', [2, 0]);
  await refused('Q', /expected at most 2 × 4 from row 2.*got 3 × 1/);
  await agrees(bench, { given }, 'too far down');
  await bench.paste('Q', '1\t2\n3');
  await refused('Q', /row/i);
  await agrees(bench, { given }, 'ragged');
  await bench.paste('K', Array(9).fill('1\t2').join('\n'));
  await refused('K', /expected.*got/);
  await agrees(bench, { given }, 'K');
  await bench.paste('Q', '1\t2');
  assert.equal(await bench.problem('Q'), null, 'a paste that fits takes the sentence away');
});

test('pasted text with letters, and into a matrix that is computed', async () => {
  await bench.paste('V', 'a\tb\n1\t2');
  await refused('V', /“?a”?/);
  await agrees(bench, { given }, 'letters');
  await bench.paste('V', '');
  await agrees(bench, { given }, 'an empty clipboard');
  await bench.paste('S', '1\t2');
  await refused('S', /computed: expected a paste into Q, K, V/);
  await agrees(bench, { given }, 'S');
  await bench.press('dismiss');
});

test('d_k = 0 and other sizes that cannot be', async () => {
  await refuses('d_k', '0', /expected 1 to 256, got 0/i);
  await refuses('n_q', '-3', /expected a whole number from 1 to 512, got [−-]3/i);
  await refuses('n_k', '100000', /expected 1 to 512, got 100000/i);
  await refuses('n_k', '1e30', /expected/i);
  await refuses('d_v', '2.5', /2\.5.*whole number/i);
  await refuses('d_k', 'four', /four/i);
  await refuses('heads', '', /./);
  await refuses('heads', '1000', /expected 1 to 32, got 1000/i);
});

test('heads that do not divide, until they do', async () => {
  await bench.sizes({ heads: 4, kv_heads: 2 });
  const all = random({ ...SHAPE, heads: 4, kv_heads: 2 });
  const four = { given: { q: all.q[0], k: all.k[0], v: all.v[0] } };
  await bench.set('kv_heads', '3');
  await refused('kv_heads', /divide 4, got 3.*1, 2 or 4/);
  await agrees(bench, four, 'the last good picture stays');
  await bench.set('heads', '6');
  assert.equal(await bench.problem('kv_heads'), null, 'both wishes together are met');
  assert.deepEqual([await bench.field('heads'), await bench.field('kv_heads')], ['6', '3']);
  const six = random({ ...SHAPE, heads: 6, kv_heads: 3 });
  await agrees(bench, { given: { q: six.q[0], k: six.k[0], v: six.v[0] } }, '6 heads on 3');
  await bench.sizes({ heads: 1, kv_heads: 1 });
});

test('RoPE on an odd width', async () => {
  await bench.choose('positions', 'rope');
  await bench.set('rope.dims', '3');
  await refused('rope.dims', /expected an even number.*got 3.*Choose 2/);
  await agrees(bench, { given, rope: { layout: 'interleaved', dims: 4 } }, 'the last good picture stays');
  await (await bench.reach('input[data-name="rope.dims"]')).sendKeys(Key.ESCAPE);
  await bench.set('rope.dims', '0');
  assert.equal(await bench.field('rope.dims'), '4', '0 stands for all, and all are counted');
  // What turned all turns all pairs that there are; more cannot turn.
  await bench.sizes({ d_k: 5 });
  const five = random({ ...SHAPE, d_k: 5 });
  const odd = { given: { q: five.q[0], k: five.k[0], v: five.v[0] }, rope: { layout: 'interleaved', dims: 4 } };
  await agrees(bench, odd, 'with d_k = 5');
  await refuses('rope.dims', '5', /expected an even number.*got 5.*Choose 4/, { stays: odd });
  await bench.choose('positions', 'none');
  await bench.sizes({ d_k: 4 });
  await bench.choose('positions', 'rope');
  await refuses('rope.dims', '6', /expected at most d_k = 4, got 6/, { stays: { given, rope: { layout: 'interleaved', dims: 4 } } });
  await refuses('rope.base', '1', /expected/i, { stays: { given, rope: { layout: 'interleaved', dims: 4 } } });
});

test('a window of 0, and other masks that cannot be', async () => {
  const wide = { ...SHAPE, n_k: 4 };
  await bench.sizes({ n_k: 4 });
  const all = random(wide);
  const square = { given: { q: all.q[0], k: all.k[0], v: all.v[0] } };
  await bench.choose('mask', 'window');
  const stays = { ...square, mask: { causal: { align: 'square' }, window: { size: 4 } } };
  await refuses('window.size', '0', /expected.*got 0/i, { stays });
  await refuses('window.size', '-1', /expected.*got [−-]1/i, { stays });
  await refuses('window.keep_first', '9', /expected at most the 4 keys, got 9/, { stays });
  await bench.choose('mask', 'prefix');
  await refuses('causal.prefix', '5', /expected at most the 4 keys, got 5/, { stays: { ...square, mask: { causal: { align: 'square', prefix: 3 } } } });
  await bench.choose('mask', 'padding');
  await refuses('padding.key_length', '6', /expected at most the 4 keys, got 6/, { stays: { ...square, mask: { padding: { key_length: 3 } } } });
  await bench.choose('mask', 'none');
  await bench.sizes({ n_k: 5 });
});

test('numbers of the other fields', async () => {
  await refuses('scale', 'big', /big/);
  await refuses('scale', '1e999', /./);
  await refuses('seed', '0', /expected a whole number from 1 to 2147483646, got 0/);
  await refuses('seed', '99999999999', /expected/i);
  await refuses('sigma', '-1', /expected 0 to/);
  await bench.unfold('extras');
  await bench.toggle('soft_cap-on', true);
  await refuses('soft_cap', '0', /expected/i, { stays: { given, soft_cap: 30 } });
  await refuses('soft_cap', '-4', /expected/i, { stays: { given, soft_cap: 30 } });
  await bench.toggle('soft_cap-on', false);
  await bench.toggle('qk_norm-on', true);
  await refuses('qk_norm', '-1', /expected/i, { stays: { given, qk_norm: 1e-6 } });
});

test('1e38 in a cell: scores beyond float32, exact in float64', async () => {
  await bench.write('Q', 0, 0, '1e38');
  const large = structuredClone(given);
  large.q[0][0] = 1e38;
  await agrees(bench, { given: large }, 'finite in float64');
  await bench.press('undo');
  await agrees(bench, { given }, 'undone');
});

test('1e308 in a row and a column: scores beyond float64, and the page says so', async () => {
  const row = Array(4).fill('1e308').join('\t');
  await bench.paste('Q', row);
  await bench.paste('K', Array(5).fill(row).join('\n'));
  await bench.cell('S', 0, 0);
  await bench.leave();
  assert.deepEqual(await bench.nonsense(), []);
  const words = await bench.eval(() => document.body.innerText);
  assert.match(words, /beyond (?:the range of )?float64/i);
  const sums = (await bench.table('A')).map((r) => r.reduce((a, b) => a + b));
  sums.forEach((sum, i) => assert.ok(Math.abs(sum - 1) < 1e-9, `row ${i} sums to ${sum}`));
  await bench.set('scale', '0');
  await agrees(bench, { scale: 0 }, 'with scale 0').catch((error) => {
    // 0 times a dot product beyond float64 has no agreed value; what counts is that nothing is NaN.
    assert.match(String(error), /S\[|A\[|O\[|lse|formula|gradient|J of/);
  });
  assert.deepEqual(await bench.nonsense(), []);
});

test('underflow is not zero and not hidden', async () => {
  await bench.write('Q', 0, 0, '1e4');
  await bench.leave();
  const cells = await bench.cells('A');
  const states = cells[0].map((cell) => cell.state);
  assert.ok(states.some((s) => /underflow/.test(s)), states.join());
  cells[0].forEach((cell) => assert.equal(/underflow/.test(cell.state), cell.value === 0, `${cell.value}: ${cell.state}`));
});

test('a refused edit is not lost by another one elsewhere', async () => {
  await bench.set('d_k', '0');
  await bench.set('scale', '0.25');
  assert.ok(await bench.problem('d_k'), 'its sentence stays');
  await agrees(bench, { given, scale: 0.25 }, 'the other edit counts');
  await bench.press('undo');
  await agrees(bench, { given }, 'undone');
});
