// Prints the table "where the lab runs" from what the suite noted, and writes it to docs/everywhere.md with --write.
// A row that an engine has not run says so.

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ENGINES, ROWS, noted } from './lib/everywhere.mjs';

const DOC = fileURLToPath(new URL('../../docs/everywhere.md', import.meta.url));

const all = await noted();
const cell = (found) => {
  if (!found) return 'not run';
  const words = ['opens', found.bits ? 'same bits' : 'bits not compared'];
  if (found.variant) words.push(found.variant);
  if (found.height) words.push('height follows');
  if (found.more) words.push(found.more);
  return words.join(', ');
};
const names = Object.values(ENGINES);
const table = [
  `| where | ${names.join(' | ')} |`,
  `| --- |${' --- |'.repeat(names.length)}`,
  ...Object.entries(ROWS).map(([row, words]) => `| ${words} | ${Object.keys(ENGINES).map((e) => cell(all[row]?.[e])).join(' | ')} |`),
].join('\n');

console.log(table);
if (process.argv.includes('--write')) {
  await writeFile(
    DOC,
    `# Where the lab runs

Each cell is a test of the browser suite on what \`cargo xtask dist\` made, and says what it found. *Same bits*: every
score, weight, output and read-out is the same float64 as on a page of its own. *threads* or *one thread*: the engine
that runs when one with threads is asked for; both compute the same bits. *Height follows*: the element \`<attention-lab>\`
is as high as what it holds, also when its column gets narrow and when a sentence appears in it.

${table}

Made by \`cargo xtask test --only dist,browser\` and \`node tests/browser/everywhere.mjs --write\`.
`,
  );
}
