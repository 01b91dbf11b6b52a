import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import { noLeaps } from "../../wire/json-members.js";
import { moreValuesSteps } from "../../wire/sliced/more-values-steps.js";
import { atOnce, type Steps, stepInTurns } from "../../wire/slices.js";

/**
 * The most members, lists and objects of one answer, or of one event of it. To be read, they become values at once: more of
 * them would stop the process for seconds, and take dozens of times the memory of their text. 10,000 tokens with the
 * probabilities of 20 others each have about as many.
 */
export const mostAnswerMembers = 2 ** 20;

/** Whether an answer has too many members to be read. Each takes a byte at least, so that most answers are not looked at. */
export function hasTooManyMembers(answer: Uint8Array): false | Promise<boolean> {
  return answer.length > mostAnswerMembers && stepInTurns(tooManySteps(answer));
}

/** @throws StreamFault for an event that has too many members to be read. */
export function requireFewMembers(event: string): void {
  if (event.length > mostAnswerMembers && atOnce(tooManySteps(Buffer.from(event)))) throw new StreamFault("garbage");
}

/** @throws StreamFault for an answer that comes whole in place of a stream, and has too many members to be read. */
export function requireFewMembersOf(answer: Uint8Array): void {
  if (answer.length > mostAnswerMembers && atOnce(tooManySteps(answer))) throw new StreamFault("garbage");
}

function tooManySteps(json: Uint8Array): Steps<boolean> {
  return moreValuesSteps(json, noLeaps, mostAnswerMembers, false);
}
