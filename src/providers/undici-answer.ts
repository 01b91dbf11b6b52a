import type { Buffer } from "node:buffer";
import type { UpstreamAnswer } from "./upstream-provider.js";

const raw = Symbol("raw headers");

interface RawAnswer {
  status: number;
  body: AsyncIterable<Uint8Array>;
  [raw]: readonly Buffer[];
}

/**
 * An answer whose `headers` are read when they are first asked for: of a good one hardly any is. They are the answer's own
 * member, so that whoever wraps a provider may spread it; and all answers share the getter, as in `toUpstreamCall`.
 *
 * @param headers - names and values in turn, as they were received.
 */
export function toUpstreamAnswer(
  status: number,
  headers: readonly Buffer[],
  body: AsyncIterable<Uint8Array>,
): UpstreamAnswer {
  const answer: RawAnswer = { status, body, [raw]: headers };
  return Object.defineProperty(answer, "headers", readHeaders) as RawAnswer & Pick<UpstreamAnswer, "headers">;
}

const readHeaders: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: RawAnswer): Record<string, string> {
    return keep(this, toRecord(this[raw]));
  },
  set(this: RawAnswer, headers: UpstreamAnswer["headers"]) {
    keep(this, headers);
  },
};

function keep<Headers>(answer: RawAnswer, headers: Headers): Headers {
  Object.defineProperty(answer, "headers", { value: headers, enumerable: true, configurable: true, writable: true });
  return headers;
}

/** Names in lower case; the values of one that came twice are joined (RFC 9110, section 5.2). */
function toRecord(headers: readonly Buffer[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = String(headers[index]?.toString("latin1")).toLowerCase();
    const value = String(headers[index + 1]?.toString("latin1"));
    record[name] = name in record ? `${record[name]}, ${value}` : value;
  }
  return record;
}
