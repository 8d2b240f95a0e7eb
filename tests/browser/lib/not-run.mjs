// A reporter of node's test runner: at the end, which tests the engine of this run could not be asked for, and why.

const ENGINE = process.env.BROWSER || 'chromium';

export default async function* notRun(events) {
  const why = new Map();
  let run = 0;
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.skip === undefined) run += 1;
    else why.set(data.skip, [...(why.get(data.skip) ?? []), data.name]);
  }
  const count = [...why.values()].flat().length;
  yield `\n${ENGINE}: ${run} tests run, ${count ? `${count} not:` : 'none left out'}\n`;
  for (const [reason, names] of why) yield `  ${reason}\n${names.map((name) => `    ${name}\n`).join('')}`;
}
