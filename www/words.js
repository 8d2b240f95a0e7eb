// The words of what is loaded only when it is wanted: `www/text/share.ftl`, `key = words` with `{ $name }` to fill in.

let loading = null;

/** Reads the file once; gives `(key, values) => words`. A key that the file has not stands for itself. */
export function words() {
  loading ??= read().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function read() {
  const address = new URL('text/share.ftl', import.meta.url);
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
