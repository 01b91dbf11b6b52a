import type { Buffer } from "node:buffer";
import type { DirectAnswer } from "../direct-call.js";
import type { ReceivedBody } from "./received-body.js";

/** A response whose headers are parsed when they are first read: of a good one hardly any is. */
export class UndiciAnswer implements DirectAnswer {
  readonly status: number;
  readonly body: ReceivedBody;
  readonly #raw: readonly Buffer[];
  #headers: Record<string, string> | undefined;

  /** @param headers - names and values in turn, as they were received. */
  constructor(status: number, headers: readonly Buffer[], body: ReceivedBody) {
    this.status = status;
    this.body = body;
    this.#raw = headers;
  }

  get headers(): Record<string, string> {
    this.#headers ??= toRecord(this.#raw);
    return this.#headers;
  }

  takeWhole(): Uint8Array | undefined {
    return this.body.takeWhole();
  }
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
