// The element of embed.js for TypeScript: `/// <reference path="…/embed.d.ts" />`, or copy it beside your sources.
// docs/embedding.md has what each attribute means.

/** Numbers that a lab shows, by the names of its read-outs. */
export type AttentionLabReads = Record<string, number | number[]>;

/** What a lab tells when a picture is painted. */
export interface AttentionLabState {
  /** The session as a link, without its #. */
  link: string;
  /** All numbers that the lab shows. */
  reads: AttentionLabReads;
}

/** What an answer to `get` says besides. */
export interface AttentionLabAnswer extends AttentionLabState {
  /** False where a lab that is off the screen has no picture yet, and so no numbers. */
  painted: boolean;
}

/** The numbers of a picture. Matrices are row-major, of the head that is shown. */
export interface AttentionLabData {
  head: number;
  n_q: number;
  n_k: number;
  d_k: number;
  d_v: number;
  /** Multiplier of the dot products. */
  scale: number;
  /** `[n_q, d_k]` */
  q: Float64Array;
  /** `[n_k, d_k]` */
  k: Float64Array;
  /** `[n_k, d_v]` */
  v: Float64Array;
  /** `[n_q, n_k]`, before the mask. */
  scores: Float64Array;
  /** `[n_q, n_k]`, with the mask. Left out while the session is ahead of the picture. */
  masked?: Float64Array;
  /** `[n_q, n_k]` */
  weights: Float64Array;
  /** `[n_q, d_v]` */
  output: Float64Array;
  /** `[n_q]`, nats. */
  lse: Float64Array;
  /** `[n_q]`, nats. */
  entropy: Float64Array;
}

/** Keys of a link, under the names of attributes or of keys. Null, an empty text or an empty list is the default. */
export type AttentionLabChanges = Record<string, string | number | boolean | null | Array<string | number>>;

export interface AttentionLabEventMap {
  /** The first picture is painted. */
  ready: CustomEvent<AttentionLabState>;
  /** A picture of a changed session is painted. */
  change: CustomEvent<AttentionLabState>;
  /** Something could not be used: expected, got, what to do. */
  error: CustomEvent<{ message: string }>;
}

/** `<attention-lab>`. Every promise is refused with a sentence where the lab does not answer within `timeout` milliseconds. */
export interface AttentionLabElement extends HTMLElement {
  /** Changes what is given and leaves the rest; `problems` has a sentence for what could not be used. */
  set(changes: string | AttentionLabChanges, options?: { timeout?: number }): Promise<AttentionLabAnswer & { problems: string[] }>;
  /** The session and its numbers as they are. */
  get(options?: { timeout?: number }): Promise<AttentionLabAnswer>;
  /** The picture as a PNG. */
  png(options?: { part?: string; title?: string; density?: number; timeout?: number }): Promise<Blob>;
  /** The numbers of the picture; null before the first. */
  data(options?: { timeout?: number }): Promise<AttentionLabData | null>;
  /** What is wrong at the moment, in sentences. */
  readonly problems: string[];

  addEventListener<T extends keyof AttentionLabEventMap>(
    type: T,
    listener: (this: AttentionLabElement, event: AttentionLabEventMap[T]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'attention-lab': AttentionLabElement;
  }
}
