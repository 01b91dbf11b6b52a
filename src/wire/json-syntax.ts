import { Buffer } from "node:buffer";
import {
  type CheckState,
  checkByLoop,
  expectCommaOrEnd,
  type JsonFault,
  type JsonFaultReason,
  mostNested,
  startOfCheck,
} from "./check-by-loop.js";
import { jsonScanModule } from "./json-scan-module.js";
import type { SkipNotes } from "./skip-table.js";
import type { SlicedWork } from "./slices.js";
import { isLittleEndian } from "./word-scan.js";

export { type JsonFault, mostNested };

/** What {@link JsonCheck} finds, in one go. */
export function findJsonFault(bytes: Uint8Array, maxDepth: number, skips?: SkipNotes): JsonFault | undefined {
  const check = new JsonCheck(bytes, maxDepth, skips);
  check.run(bytes.length);
  return check.fault;
}

/**
 * Checks, in one pass and without building a value, that `bytes` (valid UTF-8) is one JSON object (RFC 8259) that every
 * reader understands alike: nested at most `maxDepth` deep, with finite numbers, without a `__proto__` member.
 * The text itself can then go on byte for byte, so that 64-bit integers and unknown members survive exactly.
 */
export class JsonCheck implements SlicedWork {
  readonly #state: CheckState;
  readonly #vectors: VectorScan | undefined;

  /** @param skips - gets the ends of long values, by their starts. A later reader of the text can leap over them. */
  constructor(bytes: Uint8Array, maxDepth: number, skips?: SkipNotes) {
    this.#state = startOfCheck(bytes, maxDepth, skips);
    this.#vectors = maxDepth > mostLevels ? undefined : vectorScan();
  }

  /** The first fault, or `undefined`. */
  get fault(): JsonFault | undefined {
    return this.#state.fault;
  }

  get position(): number {
    return Math.max(this.#state.position, this.#state.inString);
  }

  run(until: number): boolean {
    const vectors = this.#vectors;
    return vectors === undefined ? checkByLoop(this.#state, until) : checkByVectors(vectors, this.#state, until);
  }
}

// The memory of json-scan.wat.
const memoryBytes = 2 * 65_536;
const escapesAt = 256;
const kindsAt = 1024;
const offsetsAt = 8192;
const skipsAt = 28_672;
const windowAt = 65_472;
/** So many zeros stand behind the window. */
const padding = 16;
const windowBytes = memoryBytes - padding - windowAt;

/** The levels for which there is room. */
const mostLevels = 5000;

/** No token but a string is longer, unless it is one that the loop judges, and no name that matters. */
const longestToken = 320;
/** No escape is longer. */
const longestEscape = 6;

/** What {@link Scan} returns: it came to the end of its window, or to a token that it cannot judge, or found a fault. */
const stopped = 0;
const unjudged = 2;
const reasons: Readonly<Record<number, JsonFaultReason>> = {
  1: "syntax",
  3: "too_deep",
  4: "too_many",
  5: "prototype_key",
};

type Scan = (stop: number, end: number, escapes: number, shift: number) => number;

/** The module at work, and views of its memory. All checks of a thread use it in turn: none keeps anything in it. */
interface VectorScan {
  readonly scan: Scan;
  readonly bytes: Uint8Array;
  readonly numbers: Int32Array;
}

let made: VectorScan | undefined;
let isTried = false;

/** @returns `undefined` where the runtime lets no WebAssembly run, or knows no vectors, or has numbers the other way round. */
export function vectorScan(): VectorScan | undefined {
  if (!isTried) {
    isTried = true;
    made = makeVectorScan();
  }
  return made;
}

interface WebAssemblyOfRuntime {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

function makeVectorScan(): VectorScan | undefined {
  const { WebAssembly } = globalThis as { WebAssembly?: WebAssemblyOfRuntime };
  if (WebAssembly === undefined || !isLittleEndian) return undefined;
  try {
    const module = new WebAssembly.Module(Buffer.from(jsonScanModule, "base64"));
    const { memory, scan } = new WebAssembly.Instance(module).exports;
    const { buffer } = memory as { buffer: ArrayBuffer };
    const bytes = new Uint8Array(buffer);
    for (const letter of '"\\/bfnrt') bytes[escapesAt + letter.charCodeAt(0)] = 1;
    bytes[escapesAt + "u".charCodeAt(0)] = 2;
    return { scan: scan as Scan, bytes, numbers: new Int32Array(buffer) };
  } catch {
    // A policy of the page or the runtime.
    return undefined;
  }
}

/**
 * Does what {@link checkByLoop} does, with WebAssembly: 16 bytes of a string at a time. The text is copied into its memory
 * window by window.
 * @returns whether that is all.
 */
export function checkByVectors(vectors: VectorScan, state: CheckState, until: number): boolean {
  const { length } = state.bytes;
  loadLevels(vectors, state);
  for (;;) {
    const { position, inString } = state;
    if (inString >= length) state.fault = { reason: "syntax", at: length };
    else if (inString < 0 && position >= length) {
      if (state.depth !== 0 || state.expected !== expectCommaOrEnd) state.fault = { reason: "syntax", at: length };
      return true;
    } else if (Math.max(position, inString) >= until) {
      saveLevels(vectors, state);
      return false;
    } else checkWindow(vectors, state, until);
    if (state.fault !== undefined) return true;
  }
}

function checkWindow({ scan, bytes, numbers }: VectorScan, state: CheckState, until: number): void {
  const text = state.bytes;
  const { length } = text;
  const base = Math.max(state.position, state.inString);
  const end = Math.min(base + windowBytes, length);
  bytes.set(base === 0 && end === length ? text : text.subarray(base, end), windowAt);
  bytes.fill(0, windowAt + end - base, windowAt + end - base + padding);
  const isLast = end === length;
  const stop = Math.min(until, isLast ? end : end - longestToken);
  const escapes = isLast ? end : end - longestEscape;
  let result: number;
  do {
    numbers[0] = state.position;
    numbers[1] = state.depth;
    numbers[2] = state.nested;
    numbers[3] = state.expected;
    numbers[4] = state.inString;
    numbers[6] = state.maxDepth;
    numbers[7] = mostNested;
    result = scan(stop, end, escapes, windowAt - base);
    state.position = numbers[0];
    state.depth = numbers[1];
    state.nested = numbers[2];
    state.expected = numbers[3];
    state.inString = numbers[4];
    takeSkips(numbers, state.skips);
    if (result === unjudged) checkByLoop(state, state.position + 1);
    else if (result !== stopped) {
      const reason = reasons[result] ?? "syntax";
      state.fault = { reason, at: state.inString < 0 ? state.position : state.inString };
    }
  } while (result === unjudged && state.fault === undefined && state.position < stop);
}

function takeSkips(numbers: Int32Array, skips: SkipNotes | undefined): void {
  if (skips === undefined) return;
  const last = skipsAt / 4 + (numbers[5] as number) * 2;
  for (let at = skipsAt / 4; at < last; at += 2) skips.set(numbers[at] as number, numbers[at + 1] as number);
}

function loadLevels({ bytes, numbers }: VectorScan, { depth, stack }: CheckState): void {
  for (let level = 1; level <= depth; level++) {
    bytes[kindsAt + level] = stack.kinds[level] as number;
    numbers[offsetsAt / 4 + level] = stack.offsets[level] as number;
  }
}

function saveLevels({ bytes, numbers }: VectorScan, { depth, stack }: CheckState): void {
  for (let level = 1; level <= depth; level++) {
    stack.kinds[level] = bytes[kindsAt + level] as number;
    stack.offsets[level] = numbers[offsetsAt / 4 + level] as number;
  }
}
