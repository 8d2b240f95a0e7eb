// The words of what is loaded only when it is wanted: a file of `www/text`, `key = words` with `{ $name }` to fill in.

const loading = {};

/** Reads a file once; gives `(key, values) => words`. A key that the file has not stands for itself. */
export function words(name) {
  loading[name] ??= read(name).catch((error) => {
    delete loading[name];
    throw error;
  });
  return loading[name];
}

async function read(name) {
  const address = new URL(`text/${name}.ftl`, import.meta.url);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`expected the words in ${address.pathname}, got status ${response.status}`);
  const found = new Map();
  let last = null;
  for (const line of (await response.text()).split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue;
    if (/^\s/.test(line) && last) {
      found.set(last, `${found.get(last)} ${line.trim()}`);
      continue;
    }
    const at = line.indexOf('=');
    last = line.slice(0, at).trim();
    found.set(last, line.slice(at + 1).trim());
  }
  return (key, values = {}) =>
    (found.get(key) ?? key).replace(/\{ \$(\w+) \}/g, (_, name) => String(values[name] ?? ''));
}
