// Gives every job to the real worker, in each variant of the engine, and posts the replies back.
// Then gives every call to attention.js, in each variant, and posts results and gradients back.
// Server: GET plan.json, GET job/N; POST reply/VARIANT/N (0 is the engine's first word), POST failed, POST done.
//         GET call/N; POST gradients/VARIANT/N.

import * as lib from "./www/attention.js";

const post = async (path, body) => {
  const answer = await fetch(path, { method: "POST", body });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status}`);
};

/** What `Frame::to_bytes` wrote: two counts, the head, and each array after its length. */
function read(buffer) {
  const view = new DataView(buffer);
  let at = 0;
  const count = () => Number(view.getBigUint64((at += 8) - 8, true));
  const take = (bytes) => buffer.slice(at, (at += bytes));
  const [size, arrays] = [count(), count()];
  const head = new Uint8Array(take(size));
  return { head, arrays: Array.from({ length: arrays }, () => new Float64Array(take(8 * count()))) };
}

/** The same the other way. */
function write({ head, arrays }) {
  const count = (n) => new BigUint64Array([BigInt(n)]);
  const parts = [count(head.length), count(arrays.length), head];
  for (const array of arrays) parts.push(count(array.length), array);
  return new Blob(parts);
}

async function run(variant, { threads, jobs }) {
  const worker = new Worker("www/engine-worker.js", { type: "module" });
  const waiting = [];
  const heard = [];
  worker.onmessage = ({ data }) => (waiting.length ? waiting.shift()(data) : heard.push(data));
  worker.onerror = (event) => worker.onmessage({ data: { failed: event.message ?? "the worker does not load" } });
  const next = async () => {
    const data = heard.length ? heard.shift() : await new Promise((resolve) => waiting.push(resolve));
    if (data.failed ?? data.panic) throw new Error(`engine ${variant}: ${data.failed ?? data.panic}`);
    return data;
  };
  await next();
  worker.postMessage({
    base: document.baseURI,
    variant,
    threads: variant.endsWith("threads") ? threads : 1,
    channel: `golden-${variant}`,
  });
  await post(`reply/${variant}/0`, write(await next()));
  for (let at = 0; at < jobs; at += 1) {
    const job = read(await (await fetch(`job/${at}`)).arrayBuffer());
    worker.postMessage(job, [job.head.buffer, ...job.arrays.map((array) => array.buffer)]);
    await post(`reply/${variant}/${at + 1}`, write(await next()));
  }
  worker.terminate();
}

/** Results one after the other, as float32. */
async function runExports(variant, { threads, calls }) {
  const loaded = await lib.init({ threads: variant.endsWith("threads") ? threads : 1 });
  if (loaded.variant !== variant) throw new Error(`attention.js ${variant} was asked for, and ${loaded.variant} came`);
  for (let at = 0; at < calls; at += 1) {
    const call = await (await fetch(`call/${at}`)).json();
    for (const name of ["q", "k", "v", "dOut"]) call[name] = Float32Array.from(call[name]);
    const out = lib.attention(call);
    const { dQ, dK, dV, dSink } = lib.backward(call);
    await post(`gradients/${variant}/${at}`, new Blob([out, dQ, dK, dV, ...(dSink ? [dSink] : [])]));
  }
  lib.release();
}

try {
  if (!crossOriginIsolated) throw new Error("the page is not cross-origin isolated, so no threads can run.");
  const plan = await (await fetch("plan.json")).json();
  for (const variant of plan.variants) await run(variant, plan);
  for (const variant of plan.variants) await runExports(variant, plan);
  await post("done", "");
} catch (error) {
  await post("failed", String(error?.message ?? error));
}
