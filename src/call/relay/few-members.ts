import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import { TooLargeError } from "../../wire/bytes.js";
import { noSkips } from "../../wire/skip-table.js";
import { atOnce, type Steps, sliceBytes, stepInTurns } from "../../wire/slices.js";
import { moreValuesSteps } from "../../wire/value-steps.js";

/** Shorter answers are not looked at: the few values that they have room for are read in no time. */
const shortBytes = sliceBytes;

/** Any answer may have so many members, lists and objects. */
const fewMembers = 2 ** 18;

/** What a member, list or object of an honest answer takes at least: one of the probabilities of a token has five in 41. */
const bytesOfMember = 8;

/** An object with names of its own is slow to read, to copy and to write. No API has half as many members in one. */
const mostInObject = 4096;

/** What is read in one go may have so many values, elements of lists included: to read them takes some hundredths of a second. */
const mostAtOnce = 2 ** 18;

/**
 * The most members, lists and objects of one whole answer. It is read in slices, but more of them would take dozens of times
 * the memory of their text.
 */
function mostResponseMembers(bytes: number): number {
  return fewMembers + Math.floor(bytes / bytesOfMember);
}

/**
 * What is wrong with a whole answer of too many members to be read; `undefined`: nothing is. Most answers are not looked at.
 * @returns a TooLargeError where a request may have asked for so many.
 */
export function membersFault(answer: Uint8Array): undefined | Promise<Error | undefined> {
  return answer.length > shortBytes ? stepInTurns(wholeSteps(answer)) : undefined;
}

function* wholeSteps(json: Uint8Array): Steps<Error | undefined> {
  const all = mostResponseMembers(json.length);
  const beyond = yield* moreValuesSteps(json, noSkips, { all, elements: false, ofObject: mostInObject });
  if (beyond === "all") return new TooLargeError(`Its answer is over ${all} members, lists and objects.`);
  return beyond && new Error(`An object of its answer has over ${mostInObject} members.`);
}

/** @throws StreamFault | TooLargeError for an event that has too many values to be read in one go. */
export function requireFewMembers(event: string): void {
  if (event.length > shortBytes) requireFewMembersOf(Buffer.from(event));
}

/** @throws StreamFault | TooLargeError for an answer that comes whole in place of a stream, and has too many of them. */
export function requireFewMembersOf(answer: Uint8Array): void {
  if (answer.length <= shortBytes) return;
  const beyond = atOnce(moreValuesSteps(answer, noSkips, { all: mostAtOnce, ofObject: mostInObject }));
  if (beyond === "ofObject") throw new StreamFault("garbage");
  if (beyond === "all") throw new TooLargeError(`An event of it has over ${mostAtOnce} values.`);
}
