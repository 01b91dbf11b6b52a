import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import { noLeaps } from "../../wire/leaps.js";
import { moreValuesSteps } from "../../wire/sliced/more-values-steps.js";
import { atOnce, type Steps, sliceBytes, stepInTurns } from "../../wire/slices.js";

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
export function mostAnswerMembers(bytes: number): number {
  return fewMembers + Math.floor(bytes / bytesOfMember);
}

/** Whether an answer has too many members to be read. Most answers are not looked at. */
export function hasTooManyMembers(answer: Uint8Array): false | Promise<boolean> {
  return answer.length > shortBytes && stepInTurns(tooManySteps(answer));
}

function tooManySteps(json: Uint8Array): Steps<boolean> {
  const most = { all: mostAnswerMembers(json.length), elements: false, ofObject: mostInObject };
  return moreValuesSteps(json, noLeaps, most);
}

/** @throws StreamFault for an event that has too many values to be read in one go. */
export function requireFewMembers(event: string): void {
  if (event.length > shortBytes) requireFewMembersOf(Buffer.from(event));
}

/** @throws StreamFault for an answer that comes whole in place of a stream, and has too many values to be read in one go. */
export function requireFewMembersOf(answer: Uint8Array): void {
  if (answer.length <= shortBytes) return;
  const most = { all: mostAtOnce, ofObject: mostInObject };
  if (atOnce(moreValuesSteps(answer, noLeaps, most))) throw new StreamFault("garbage");
}
