import type { LeapNotes } from "./leaps.js";
import type { SlicedWork } from "./slices.js";
import { checkByLoop } from "./syntax/check-by-loop.js";
import { checkByVectors, mostLevels, type VectorScan, vectorScan } from "./syntax/check-by-vectors.js";
import { type CheckState, type JsonFault, mostNested, startOfCheck } from "./syntax/check-state.js";

export { type JsonFault, mostNested };

/** What {@link JsonCheck} finds, in one go. */
export function findJsonFault(bytes: Uint8Array, maxDepth: number, leaps?: LeapNotes): JsonFault | undefined {
  const check = new JsonCheck(bytes, maxDepth, leaps);
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

  /** @param leaps - gets the ends of long values, by their starts. A later reader of the text can leap over them. */
  constructor(bytes: Uint8Array, maxDepth: number, leaps?: LeapNotes) {
    this.#state = startOfCheck(bytes, maxDepth, leaps);
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
