import { requireKnownOptions } from "../../check/known-options.js";
/** How operations are put together. */
export interface RedisBatchOptions {
  /**
   * How many operations go in one script at most, each on another account; up to 64. Of one account nearly twice as many
   * go, since each takes half the time. Redis serves no other client while it runs. Default: 32.
   */
  operations?: number | undefined;
  /**
   * How many scripts are under way at most; on a cluster, for each account. A further one needs as many operations as the
   * last one had. Default: 4.
   */
  inFlight?: number | undefined;
}

export type BatchSizes = Readonly<Record<"operations" | "inFlight", number>>;

const mostOperations = 64;

/**
 * @param batch - `false`: an operation a script, and any number of scripts under way.
 * @throws RangeError when one of them is not valid.
 */
export function batchSizes(batch: RedisBatchOptions | false = {}): BatchSizes {
  if (batch === false) return { operations: 1, inFlight: Number.POSITIVE_INFINITY };
  requireKnownOptions("batch", batch, { operations: true, inFlight: true });
  const { operations = 32, inFlight = 4 } = batch;
  if (!Number.isSafeInteger(operations) || operations < 1 || operations > mostOperations) {
    throw new RangeError(`batch.operations must be a whole number from 1 to ${mostOperations}, not ${operations}.`);
  }
  if (!Number.isSafeInteger(inFlight) || inFlight < 1) {
    throw new RangeError(`batch.inFlight must be a whole number of at least 1, not ${inFlight}.`);
  }
  return { operations, inFlight };
}
