import type { LeapNotes } from "../leaps.js";
import { sliceBytes } from "../slices.js";

/** Why a text is refused. Only the first two concern JSON itself; the others are what the gateway does not pass on. */
export type JsonFaultReason =
  | "syntax"
  | "not_object"
  | "too_deep"
  | "too_many"
  | "long_number"
  | "not_finite"
  | "prototype_key";

export interface JsonFault {
  reason: JsonFaultReason;
  /** Byte offset of the fault. */
  at: number;
}

/**
 * Members, objects and arrays in one text, together. Far beyond any request, and far below what would fill the memory of
 * one that makes values of the text, such as a server behind the gateway.
 */
export const mostNested = 500_000;

/** What may follow, as the check goes from token to token. `json-scan.wat` has the same numbers. */
export const expectValue = 0;
export const expectValueOrEnd = 1;
export const expectKey = 2;
export const expectKeyOrEnd = 3;
export const expectColon = 4;
export const expectCommaOrEnd = 5;

/** What a level is. */
export const inObject = 1;
export const inArray = 2;

/** What is open at each level. */
export interface LevelStack {
  /** What it is. */
  readonly kinds: Uint8Array;
  /** Where it began. */
  readonly offsets: Int32Array;
}

/** How far a text was checked. Either of the two ways to check can go on from it. */
export interface CheckState {
  readonly bytes: Uint8Array;
  readonly maxDepth: number;
  /** Gets the ends of long values, by their starts. */
  readonly leaps: LeapNotes | undefined;
  readonly stack: LevelStack;
  depth: number;
  nested: number;
  expected: number;
  position: number;
  /** Inside a string that was not read to its end: from where to read on, or -1. */
  inString: number;
  /** The first fault, or `undefined`. */
  fault: JsonFault | undefined;
}

/** @param leaps - gets the ends of long values, by their starts. A later reader of the text can leap over them. */
export function startOfCheck(bytes: Uint8Array, maxDepth: number, leaps?: LeapNotes): CheckState {
  return {
    bytes,
    maxDepth,
    leaps,
    stack: stackFor(maxDepth, bytes.length > sliceBytes),
    depth: 0,
    nested: 0,
    expected: expectValue,
    position: 0,
    inString: -1,
    fault: undefined,
  };
}

// One for all texts that are checked in one go: one for each would take longer than a short text.
let shared: LevelStack = stackOf(256);

function stackFor(maxDepth: number, isSliced: boolean): LevelStack {
  if (isSliced) return stackOf(maxDepth);
  if (shared.kinds.length <= maxDepth) shared = stackOf(maxDepth);
  return shared;
}

function stackOf(maxDepth: number): LevelStack {
  return { kinds: new Uint8Array(maxDepth + 1), offsets: new Int32Array(maxDepth + 1) };
}
