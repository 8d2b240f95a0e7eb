// Starts the page: Trunk writes the names of its script and its wasm into this script's tag. What does not arrive is
// said in words and tried again at the press of a button; the session in the address stays as it is.
const tag = document.querySelector("script[data-wasm]");
const { js, wasm, worker } = tag.dataset;
const framed = window.parent !== window;
/** A view in somebody else's page is dressed for its frame and speaks with the page around it. */
const embedded = /^#?(.*&)?embed=1(&|$)/.test(location.hash);
/** Milliseconds after which a start counts as slow, and may be begun again. */
const SLOW = 20_000;

/** A browser may remember that a module failed: another query makes it another module. */
function address(name, attempt) {
  const url = new URL(name, document.baseURI);
  if (attempt > 0) url.searchParams.set("again", attempt);
  return url.href;
}

say("Starting the lab …");
let attempt = 0;
/** The application, once it runs. */
let started = null;
let running = new AbortController();

/** What is shown until the page is there; nothing once it is. */
function say(words, again) {
  const place = document.getElementById("starting");
  if (!place) return;
  place.textContent = `${words} `;
  place.setAttribute("role", again ? "alert" : "status");
  if (!again) return;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.name = "retry-start";
  button.textContent = "Try again";
  button.addEventListener("click", () => {
    running.abort();
    attempt += 1;
    say("Starting the lab …");
    start();
  });
  place.append(button);
}

async function start() {
  const mine = new AbortController();
  running = mine;
  const slow = setTimeout(() => {
    say(
      `Starting the lab … The network is slow: expected its files within ${SLOW / 1000} seconds. `
        + "They may still come; or begin again, which loses nothing.",
      true,
    );
  }, SLOW);
  try {
    // Both at once: the script is small, and the wasm is what takes long.
    const binary = fetch(address(wasm, attempt), { credentials: "same-origin", signal: mine.signal }).then((response) => {
      if (!response.ok) throw new Error(`its server answered ${response.status} instead of the page's code`);
      return response;
    });
    binary.catch(() => {});
    const again = attempt > 0 ? `?again=${attempt}` : "";
    const [page, around, view] = await Promise.all([
      import(address(js, attempt)),
      embedded && framed ? import(`./frame.js${again}`) : null,
      embedded ? import(`./embed-view.js${again}`) : null,
    ]);
    await view?.dress(() => started?.lab_link());
    // Whoever is first makes the page.
    if (mine.signal.aborted || !document.getElementById("starting")) return;
    await page.default({ module_or_path: binary });
    started = page;
    clearTimeout(slow);
    document.getElementById("starting")?.remove();
    around?.frame(page);
    if (!framed && worker) whenPainted(keep);
  } catch (error) {
    clearTimeout(slow);
    if (mine.signal.aborted) return;
    if (error instanceof WebAssembly.RuntimeError && !document.getElementById("starting")) return stopped(error);
    // The page's own words are in the wasm that is missing.
    const got = String(error?.message ?? error).replace(/[.\s]+$/, "");
    say(
      `The lab did not start: expected its files to load, got “${got}”. Check the connection and try again; nothing is `
        + "lost. It needs a browser with WebAssembly, of 2023 or newer.",
      true,
    );
  }
}

/** A fault in the page's code ends it. A release does not know the reason in words; these need none of that code. */
function stopped(error) {
  if (document.getElementById("stopped")) return;
  const place = document.createElement("p");
  place.id = "stopped";
  place.className = "problem stopped";
  place.setAttribute("role", "alert");
  place.textContent = `The lab stopped: expected its code to go on, got “${error.message}”. Load it again; what its `
    + "address says is kept. ";
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.name = "load-again";
  button.textContent = "Load again";
  button.addEventListener("click", () => location.reload());
  place.append(button);
  document.body.prepend(place);
  document.dispatchEvent(new CustomEvent("lab-error", { detail: place.firstChild.data.trim() }));
}
for (const type of ["error", "unhandledrejection"]) {
  addEventListener(type, ({ error, reason }) => {
    const why = error ?? reason;
    if (started && why instanceof WebAssembly.RuntimeError) stopped(why);
  });
}

/** After the first picture, when the browser has nothing else to do. */
function whenPainted(then) {
  let waits = true;
  const idle = () => {
    if (!waits) return;
    waits = false;
    if ("requestIdleCallback" in window) requestIdleCallback(then, { timeout: 10_000 });
    else setTimeout(then, 2_000);
  };
  document.addEventListener("lab-ready", idle, { once: true });
  // A picture that cannot be made is no reason.
  setTimeout(idle, 10_000);
}

/** Lets a service worker keep the page for a reader without a network. */
async function keep() {
  try {
    await navigator.serviceWorker.register(new URL(worker, document.baseURI), { updateViaCache: "none" });
    if (navigator.connection?.saveData) return;
    const { active } = await navigator.serviceWorker.ready;
    active.postMessage({ attentionLab: "keep" });
  } catch {
    // No such thing here, or storage is refused: the network does it.
  }
}

// A page of its own is more than a view in somebody else's: what it has besides comes at the same time.
if (!embedded) {
  for (const link of document.querySelectorAll('link[data-part="bench"]')) {
    // `rel` last: it is what makes the browser look at the rest.
    Object.assign(link, { href: link.dataset.href, as: "fetch", crossOrigin: "anonymous", rel: "preload" });
  }
}
start();

// What few readers open is loaded when they do.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.('[data-name="share"]');
  if (!button || !started) return;
  button.setAttribute("aria-busy", "true");
  try {
    const { share } = await import("./share.js");
    await share(started);
  } catch (error) {
    button.title = `The dialog did not load: ${error.message ?? error}. Check the connection, then press again.`;
    button.setAttribute("data-problem", "share");
  } finally {
    button.removeAttribute("aria-busy");
  }
});
