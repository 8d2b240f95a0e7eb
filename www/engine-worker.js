// The worker around the engine: a module of its own, so that a strict Content-Security-Policy can serve it.
//
// Page -> worker   { base, variant, threads, channel }   once, after the worker said { hello }
//                  { head: Uint8Array, arrays: Float64Array[] }   a job
// Worker -> page   { hello: true }                       the script runs
//                  { head, arrays }                      a reply; the first is `Ready`
//                  { failed: "why" }                     the engine cannot start
//                  { panic: "what" }                     the engine is dead; so is this worker from here on

/** Milliseconds that one stretch of work may take before waiting messages are looked at. */
const STRETCH = 8;

let engine = null;
let lastPanic = () => undefined;
let dead = false;
let awake = false;

// A macrotask that timers do not throttle: it lets messages in between two stretches of work.
const again = new MessageChannel();
again.port1.onmessage = () => {
  awake = false;
  guard(() => {
    send(engine.work(STRETCH));
    wake();
  });
};

function wake() {
  if (!awake && engine.busy()) {
    awake = true;
    again.port2.postMessage(0);
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
    const module = await import(new URL(`engines/${variant}/engine.js`, base).href);
    await module.default();
    // Only the engine with threads has it. Where a thread does not load it may wait for ever: the page does not.
    if (module.initThreadPool) await module.initThreadPool(threads);
    lastPanic = module.last_panic;
    engine = new module.Engine(channel);
    guard(() => send([engine.ready()]));
  } catch (error) {
    self.postMessage({ failed: String(error?.message ?? error) });
  }
}

self.onmessage = ({ data }) => {
  if (data.head === undefined) {
    start(data);
  } else if (engine) {
    guard(() => {
      send(engine.receive(data.head, data.arrays));
      wake();
    });
  }
};

self.postMessage({ hello: true });
