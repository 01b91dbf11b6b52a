import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import { noLeaps } from "../../wire/leaps.js";
import { moreValuesSteps } from "../../wire/sliced/more-values-steps.js";
import { atOnce, type Steps, stepInTurns } from "../../wire/slices.js";

/** Below it, nothing is counted: each member, list and object takes a byte at least. */
const fewBytes = 2 ** 20;

/** What a member, list or object of an honest answer takes at least: one of the probabilities of a token has five in 41. */
const bytesOfMember = 8;

/**
 * The most members, lists and objects of one answer, or of one event of it. To be read, they become values at once: more of
 * them would stop the process for seconds, and take dozens of times the memory of their text.
 */
export function mostAnswerMembers(bytes: number): number {
  return fewBytes + Math.floor(bytes / bytesOfMember);
}

/** Whether an answer has too many members to be read. Most answers are not looked at. */
export function hasTooManyMembers(answer: Uint8Array): false | Promise<boolean> {
  return answer.length > fewBytes && stepInTurns(tooManySteps(answer));
}

/** @throws StreamFault for an event that has too many members to be read. */
export function requireFewMembers(event: string): void {
  if (event.length > fewBytes && atOnce(tooManySteps(Buffer.from(event)))) throw new StreamFault("garbage");
}

/** @throws StreamFault for an answer that comes whole in place of a stream, and has too many members to be read. */
export function requireFewMembersOf(answer: Uint8Array): void {
  if (answer.length > fewBytes && atOnce(tooManySteps(answer))) throw new StreamFault("garbage");
}

function tooManySteps(json: Uint8Array): Steps<boolean> {
  return moreValuesSteps(json, noLeaps, mostAnswerMembers(json.length), false);
}
