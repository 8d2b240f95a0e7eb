// The worker around the engine: a module of its own, so that a strict Content-Security-Policy can serve it.
//
// Page -> worker   { base, variant, threads, channel }   once, after the worker said { hello }
//                  { head: Uint8Array, arrays: Float64Array[] }   a job
//                  { check: true }                        hold the last view against the float32 path
// Worker -> page   { hello: true }                       the script runs
//                  { head, arrays }                      a reply; the first is `Ready`
//                  { failed: "why" }                     the engine cannot start
//                  { unchecked: "why" }                   the float32 path did not load
//                  { panic: "what" }                     the engine is dead; so is this worker from here on

/** Milliseconds that one stretch of work may take before waiting messages are looked at. */
const STRETCH = 8;

/** The float32 path is fetched so often at most: what does not come in a hall with a bad network need not be asked for at each edit. */
const TRIES = 3;

let engine = null;
/** What has the float32 path: the engine itself, or one that is loaded when it is wanted first. */
let prover = null;
let coming = null;
let tries = 0;
let files = '';
let lastPanic = () => undefined;
let dead = false;
let awake = false;

// A macrotask that timers do not throttle: it lets messages in between two stretches of work. Some browsers send it
// round by another process, which may keep it for long: then a timer goes on in its place.
const again = new MessageChannel();
let timer = 0;
again.port1.onmessage = goOn;

function goOn() {
  if (!awake) return;
  awake = false;
  clearTimeout(timer);
  guard(() => {
    if (engine.busy()) send(engine.work(STRETCH));
    else if (busy(prover)) send(prover.work(STRETCH));
    wake();
  });
}

const busy = (one) => one !== null && one.busy();

function wake() {
  if (!awake && (engine.busy() || busy(prover))) {
    awake = true;
    again.port2.postMessage(0);
    timer = setTimeout(goOn, STRETCH);
  }
}

function send(replies) {
  for (const [head, arrays] of replies) {
    self.postMessage({ head, arrays }, [head.buffer, ...arrays.map((array) => array.buffer)]);
  }
}

/** Runs a call into the engine. After a panic the engine is never called again. */
function guard(call) {
  if (dead) return;
  try {
    call();
  } catch (error) {
    dead = true;
    self.postMessage({ panic: lastPanic() ?? String(error) });
  }
}

async function start({ base, variant, threads, channel }) {
  try {
    files = base;
    const module = await load(variant);
    // Only the engine with threads has it. Where a thread does not load it may wait for ever: the page does not.
    if (module.initThreadPool) await module.initThreadPool(threads);
    lastPanic = module.last_panic;
    engine = new module.Engine(channel);
    guard(() => send([engine.ready()]));
  } catch (error) {
    self.postMessage({ failed: sentence(error) });
  }
}

/** A browser may remember that a module did not load: it is asked for under another address then. */
async function load(variant, again = '') {
  const module = await import(new URL(`engines/${variant}/engine.js${again}`, files).href);
  await module.default();
  return module;
}

const sentence = (error) => String(error?.message ?? error);

async function check() {
  try {
    if (!prover && engine.proves()) prover = engine;
    if (!prover) {
      if (!coming && tries === TRIES) return;
      coming ??= load('proof', tries ? `?again=${tries}` : '');
      const module = await coming;
      prover ??= new module.Engine('');
    }
  } catch (error) {
    // Several may have waited for the same file.
    if (coming) {
      coming = null;
      tries += 1;
      self.postMessage({ unchecked: sentence(error) });
    }
    return;
  }
  guard(() => {
    const job = engine.unchecked();
    if (job) send(prover.receive(...job));
    wake();
  });
}

self.onmessage = ({ data }) => {
  if (data.check) {
    if (engine && !dead) check();
  } else if (data.head === undefined) {
    start(data);
  } else if (engine) {
    guard(() => {
      send(engine.receive(data.head, data.arrays));
      wake();
    });
  }
};

self.postMessage({ hello: true });
