import type { GatewayError } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import { repeatedRead, type TimeLimit } from "../ledger/guard/time-limit.js";
import { isPromiseLike, messageOf } from "../runtime/host-code.js";
import type { CachedLookupOptions } from "./cached-lookup.js";

export interface StoreLookupOptions extends CachedLookupOptions {
  /** How long the store may take. */
  timeLimit: TimeLimit;
  warn: Warn;
}

/** Warns the operator of a failure of the store. @returns what the client gets. */
type Fail = (problem: string, cause: unknown) => GatewayError;

/** An error of a store may hold its secrets: the warning has it as its cause alone. */
export async function findWithin<Found>(
  find: () => Promise<Found> | Found,
  limit: TimeLimit,
  fail: Fail,
): Promise<Found> {
  try {
    const found = find();
    return isPromiseLike(found) ? await limit.race(found) : found;
  } catch (cause) {
    throw fail("failed", cause);
  }
}

/** As {@link findWithin}, but what has no response is sent again: see {@link repeatedRead}. */
export async function readWithin<Found>(
  read: () => Promise<Found> | Found,
  limit: TimeLimit,
  fail: Fail,
): Promise<Found> {
  try {
    const found = read();
    return isPromiseLike(found) ? await repeatedRead(found, read, limit) : found;
  } catch (cause) {
    throw fail("failed", cause);
  }
}

/** Runs a check of a record that a store gave. @throws GatewayError 503 where the record is not valid. */
export function checkRecord<Checked>(make: () => Checked, fail: Fail): Checked {
  try {
    return make();
  } catch (cause) {
    const problem = messageOf(cause).replace(/\s*\n\s*/g, " ");
    throw fail(`returned a record that is not valid: ${problem}`, cause);
  }
}
