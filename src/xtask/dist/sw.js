// Keeps the page for a reader without a network. Only pages at the top of a window register it, after their first picture.
//
// `cargo xtask dist` writes the next line: { folder, index: sha256, first: { name: sha256 }, later: { … } }, names
// inside the folder. A folder's name is the hash of what it holds, so an address never means two things: a page gets
// all of its files of the one version that its index.html names, whichever worker serves it.
const SITE = null;

const SCOPE = self.registration.scope;
const OURS = `attention-lab ${SCOPE} `;
const CACHE = OURS + SITE.folder + " " + SITE.index.slice(0, 12);
/** So long a network may take to say what the newest index is, before the kept one is shown. */
const PATIENCE = 3000;
/** The headers of a page that may use threads: kept files have them, whatever the host sends. */
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Document-Isolation-Policy": "isolate-and-require-corp",
};

const address = (name) => new URL(`${SITE.folder}/${name}`, SCOPE).href;

function dressed(body, { status, statusText, headers }) {
  const all = new Headers(headers);
  // The body is unpacked already.
  for (const name of ["Content-Encoding", "Content-Length"]) all.delete(name);
  for (const name in ISOLATION) all.set(name, ISOLATION[name]);
  return new Response(body, { status, statusText, headers: all });
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The newest of our caches before this one, where most files are the same. */
async function older() {
  const names = await caches.keys();
  return names.filter((name) => name.startsWith(OURS) && name !== CACHE).reverse();
}

/** The same file of an older version, if it is the same. */
async function known(name, hash) {
  for (const cache of await older()) {
    for (const request of await (await caches.open(cache)).keys()) {
      if (!request.url.endsWith(`/${name}`)) continue;
      const response = await caches.match(request, { cacheName: cache });
      const bytes = await response.arrayBuffer();
      if (await sha256(bytes) === hash) return dressed(bytes, response);
    }
  }
}

/** Keeps a file, whole and of this version, or fails. */
async function keep(cache, url, name, hash, options) {
  if (await cache.match(url)) return;
  let found = name && (await known(name, hash));
  if (!found) {
    const response = await fetch(url, { credentials: "same-origin", ...options });
    if (!response.ok) throw new Error(`${url}: status ${response.status}`);
    const bytes = await response.arrayBuffer();
    if (await sha256(bytes) !== hash) throw new Error(`${url}: not the file of this version`);
    found = dressed(bytes, response);
  }
  await cache.put(url, found);
}

async function keepAll(files, priority) {
  const cache = await caches.open(CACHE);
  for (const name in files) await keep(cache, address(name), name, files[name], { priority });
}

// All that a first picture needs, or nothing: a worker that cannot get it does not become one.
self.addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      try {
        await keepAll(SITE.first, "low");
        await keep(await caches.open(CACHE), SCOPE, "", SITE.index, { cache: "no-cache" });
      } catch (error) {
        await caches.delete(CACHE);
        throw error;
      }
      self.skipWaiting();
    })(),
  );
});

// Pages of the version before may still be open and want files that they have not asked for yet: it stays until the next.
self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const before = await older();
      for (const name of before.slice(1)) await caches.delete(name);
      // Pages of a version before are this worker's already.
      if (before.length === 0) await self.clients.claim();
    })(),
  );
});

// The page has time: everything else. What fails now is tried again by the next page.
let filling = null;
self.addEventListener("message", (event) => {
  if (event.data?.attentionLab !== "keep") return;
  filling ??= keepAll(SITE.later, "low").finally(() => (filling = null));
  const answer = (kept) => event.ports[0]?.postMessage({ kept });
  event.waitUntil(filling.then(() => answer(true), () => answer(false)));
});

/** The newest index that can be had soon; the kept one where there is no network, or a slow one. */
async function index() {
  const kept = await caches.match(SCOPE, { cacheName: CACHE });
  const fresh = fetch(SCOPE, { cache: "no-cache", credentials: "same-origin" }).then((response) => {
    if (!response.ok) throw new Error(`status ${response.status}`);
    return dressed(response.body, response);
  });
  if (!kept) return fresh;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, kept));
  return Promise.race([fresh.catch(() => kept), late]);
}

/** A file of any version: its address says which. */
async function file(request) {
  for (const cacheName of [CACHE, ...(await older())]) {
    // A page that tries again asks with a query, so that it is not told of its last failure.
    const kept = await caches.match(request.url, { cacheName, ignoreSearch: true });
    if (kept) return kept;
  }
  const response = await fetch(request);
  return response.ok && response.type === "basic" ? dressed(response.body, response) : response;
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(SCOPE)) return;
  const inside = new URL(request.url).pathname.slice(new URL(SCOPE).pathname.length);
  if (request.mode === "navigate") {
    if (inside === "" || inside === "index.html") event.respondWith(index());
  } else if (/^v-[0-9a-f]{12}\//.test(inside)) {
    event.respondWith(file(request));
  }
});
