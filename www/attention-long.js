// Long calls of attention.js: in a worker, one after the other, with progress, and cancelled by ending the worker.

import { startWorker } from './attention-core.js';

/** Numbers sent at a time where memory is not shared, and how many such pieces may be on their way. */
const PIECE = 2 ** 20;
const AHEAD = 2;

export class Long {
  constructor(threads) {
    this.threads = threads;
    this.worker = null;
    this.bytes = 0;
    this.waiting = [];
    this.job = null;
  }

  /** Bytes of WebAssembly memory that the worker holds. */
  memory() {
    return this.bytes;
  }

  /** A promise of the result. `arrays`: the inputs in their order; `options`: the rest, plain numbers. */
  run(kind, options, arrays, onProgress, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const job = { kind, options, arrays, onProgress, resolve, reject, signal, abort: null };
      job.abort = () => this.abort(job);
      signal?.addEventListener('abort', job.abort);
      this.waiting.push(job);
      this.next();
    });
  }

  /** Ends the worker and whatever it does or was to do. */
  release(reason = new DOMException('The calls were released.', 'AbortError')) {
    const jobs = this.waiting.splice(0);
    if (this.job) jobs.unshift(this.job);
    this.end();
    for (const job of jobs) this.settle(job, job.reject, reason);
  }

  abort(job) {
    const running = job === this.job;
    if (running) this.end();
    else this.waiting = this.waiting.filter((other) => other !== job);
    this.settle(job, job.reject, job.signal.reason);
    if (running) this.next();
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
    this.job = null;
    this.bytes = 0;
  }

  settle(job, how, what) {
    job.signal?.removeEventListener('abort', job.abort);
    job.arrays = null;
    how(what);
  }

  next() {
    if (this.job || this.waiting.length === 0) return;
    const job = (this.job = this.waiting.shift());
    if (!this.worker) {
      this.worker = startWorker();
      this.worker.onmessage = ({ data }) => this.hear(data);
      this.worker.onerror = (event) => this.fail(new Error(`the worker of attention.js failed: ${event.message}`), true);
    }
    this.worker.postMessage({ job: true, threads: this.threads, kind: job.kind, options: job.options });
  }

  hear(data) {
    const { job } = this;
    if (!job) return;
    if (data.room) {
      this.send(job, data.room, data.memory);
    } else if (data.taken) {
      job.pieces.next();
    } else if (data.done !== undefined) {
      job.onProgress?.(Math.min(1, data.done / data.of));
    } else if (data.result) {
      this.bytes = data.bytes;
      job.onProgress?.(1);
      this.job = null;
      this.settle(job, job.resolve, data.result);
      this.next();
    } else {
      this.fail(new (data.range ? RangeError : Error)(data.failed), !data.range);
    }
  }

  fail(error, dead) {
    const { job } = this;
    if (dead) this.end();
    this.job = null;
    if (job) this.settle(job, job.reject, error);
    this.next();
  }

  /** Copies the inputs once: into shared memory, else piece by piece, so that no second whole copy is on its way. */
  send(job, room, memory) {
    if (memory) {
      const heap = new Float32Array(memory.buffer);
      job.arrays.forEach((array, i) => heap.set(array, room[i]));
      job.arrays = null;
      this.worker.postMessage({ go: true });
      return;
    }
    job.pieces = this.pieces(job, room);
    for (let i = 0; i < AHEAD; i += 1) job.pieces.next();
  }

  *pieces(job, room) {
    for (const [i, array] of job.arrays.entries()) {
      for (let from = 0; from < array.length; from += PIECE) {
        const piece = array.slice(from, from + PIECE);
        this.worker.postMessage({ piece, at: room[i] + from }, [piece.buffer]);
        yield;
      }
    }
    job.arrays = null;
    this.worker.postMessage({ go: true });
  }
}
