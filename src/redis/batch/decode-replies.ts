import type { LedgerReply } from "../ledger-reply.js";
import { replyLengths, replyStatuses } from "./reply-lengths.js";

const bytesOfNumber = 8;

/** The replies to all operations of a script, in their order. */
export function decodeReplies(packed: unknown): LedgerReply[] {
  const numbers = packed instanceof Uint8Array ? fromBytes(packed) : fromText(String(packed));
  const replies: LedgerReply[] = [];
  let firstOfLimits: number | undefined;
  for (let first = 0; first < numbers.length; ) {
    const status = replyStatuses[numbers[first] ?? Number.NaN];
    if (status === "limits") {
      firstOfLimits = first + replyLengths.limits;
      first = firstOfLimits + (numbers[first + 1] ?? Number.NaN);
      continue;
    }
    if (status === undefined) throw new Error(`Redis returned ${numbers[first]} where a status was expected.`);
    replies.push(firstOfLimits === undefined ? { status, numbers, first } : { status, numbers, first, firstOfLimits });
    firstOfLimits = undefined;
    first += replyLengths[status];
  }
  return replies;
}

function fromBytes(bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = new Float64Array(bytes.byteLength / bytesOfNumber);
  for (let index = 0; index < numbers.length; index++) {
    numbers[index] = view.getFloat64(index * bytesOfNumber, true);
  }
  return numbers;
}

/** A comma follows each number. */
function fromText(text: string): Float64Array {
  return Float64Array.from(text.split(",").slice(0, -1), Number);
}
