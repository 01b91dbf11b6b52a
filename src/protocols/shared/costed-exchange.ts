import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { OperationName } from "../../prices/operation-name.js";
import type { ModelResponse, StreamProgress } from "../../prices/progress.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import { asBuffer } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import {
  editMembers,
  type JsonMember,
  type MemberEdits,
  memberOf,
  membersOf,
  skipSpace,
  splice,
} from "../../wire/json-members.js";
import { eventEnd, eventStart } from "../../wire/plain-event.js";
import { type Outgoing, wholeOutgoing } from "../../wire/slices.js";
import type { Exchange } from "./operation.js";
import type { ByteAnswer, EventShortcut, StreamCodec } from "./stream-codec.js";

/** An exchange whose client sees in the usage what the call costs. What is kept of its response does not say it. */
export class CostedExchange implements Exchange {
  readonly operation: OperationName;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly bodyWith?: (edits: MemberEdits) => readonly Uint8Array[];
  readonly keep?: (instead?: string) => Promise<void>;
  readonly bytesAreTokens?: boolean;
  /** Bytes have no usage. */
  readonly readBytes?: (headers: Readonly<Record<string, string>>) => ByteAnswer;
  readonly #exchange: Exchange;
  readonly #costOf: CostOf;

  constructor(exchange: Exchange, costOf: CostOf) {
    this.operation = exchange.operation;
    this.headers = exchange.headers;
    if (exchange.bodyWith !== undefined) this.bodyWith = exchange.bodyWith.bind(exchange);
    if (exchange.keep !== undefined) this.keep = async (instead) => await exchange.keep?.(instead);
    if (exchange.bytesAreTokens !== undefined) this.bytesAreTokens = exchange.bytesAreTokens;
    if (exchange.readBytes !== undefined) this.readBytes = exchange.readBytes.bind(exchange);
    this.#exchange = exchange;
    this.#costOf = costOf;
  }

  get body(): Uint8Array {
    return this.#exchange.body;
  }

  get pieces(): readonly Uint8Array[] | undefined {
    return this.#exchange.pieces;
  }

  readWhole(bytes: Uint8Array): ModelResponse | Promise<ModelResponse> {
    const answer = this.#exchange.readWhole(bytes);
    return answer instanceof Promise ? answer.then((read) => this.#withCost(read)) : this.#withCost(answer);
  }

  #withCost(answer: ModelResponse): ModelResponse {
    const { body, tokens, contentType } = answer;
    if (contentType !== undefined && contentType !== "application/json") return answer;
    return { ...answer, body: withCost(typeof body === "string" ? Buffer.from(body) : body, this.#costOf(tokens)) };
  }

  partialTokens(pieces: readonly Uint8Array[]): UsageCounts {
    return this.#exchange.partialTokens(pieces);
  }

  readStream(): StreamCodec {
    return new CostedCodec(this.#exchange.readStream(), this.#costOf);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    return this.#exchange.readError(status, headers, body);
  }
}

/** A stream that says in its last usage what it costs. */
class CostedCodec implements StreamCodec {
  /** What it passes has no usage. */
  readonly shortcut?: EventShortcut;
  readonly maxEventBytes?: number;
  readonly #codec: StreamCodec;
  readonly #costOf: CostOf;

  constructor(codec: StreamCodec, costOf: CostOf) {
    if (codec.shortcut !== undefined) this.shortcut = codec.shortcut;
    if (codec.maxEventBytes !== undefined) this.maxEventBytes = codec.maxEventBytes;
    this.#codec = codec;
    this.#costOf = costOf;
  }

  get progress(): StreamProgress {
    return this.#codec.progress;
  }

  event(event: ServerSentEvent): Outgoing | undefined {
    return this.#withCost(this.#codec.event(event));
  }

  whole(body: Uint8Array): Outgoing | undefined {
    return this.#withCost(this.#codec.whole(body));
  }

  end(): Outgoing {
    return this.#withCost(this.#codec.end()) ?? new Uint8Array();
  }

  fault(error: GatewayError): Uint8Array {
    return this.#codec.fault(error);
  }

  keepAlive(): Uint8Array {
    return this.#codec.keepAlive();
  }

  /** Before all of the response has come, nobody knows what it costs. */
  #withCost(sent: Outgoing | undefined): Outgoing | undefined {
    if (sent === undefined || !this.progress.isComplete) return sent;
    const bytes = asBuffer(wholeOutgoing(sent));
    if (!bytes.includes(usageName)) return bytes;
    const credits = this.#costOf(this.progress.tokens);
    const pieces: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(eventEnd, start);
      const end = found < 0 ? bytes.length : found;
      const data = bytes.subarray(start, end).indexOf(eventStart);
      const json = bytes.subarray(data < 0 ? end : start + data + eventStart.length, end);
      pieces.push(bytes.subarray(start, end - json.length));
      pieces.push(json.includes(usageName) ? eventWithCost(json, credits) : json);
      start = found < 0 ? end : found + eventEnd.length;
      pieces.push(bytes.subarray(end, start));
    }
    return Buffer.concat(pieces);
  }
}

const usageName = Buffer.from('"usage"');

/** The credits that a call is charged if it ends with these tokens, as a JSON number. */
type CostOf = (tokens: UsageCounts) => string;

const brace = 0x7b;
const bracket = 0x5b;
const endOfList = 0x5d;

/** A whole response with what it costs in its `usage`; the same bytes where it has none. @param credits - as JSON. */
function withCost(response: Uint8Array, credits: string): Uint8Array {
  const usage = objectOf(response, membersOf(response), "usage");
  return usage === undefined ? response : setCost(response, usage, credits);
}

/**
 * The same for the JSON of an event. The usage stands in the event, or in the response in it. An event that also has
 * choices is not the one that a client asked for.
 */
function eventWithCost(event: Uint8Array, credits: string): Uint8Array {
  const members = membersOf(event);
  const choices = memberOf(members, "choices");
  if (choices !== undefined && event[choices.start] === bracket) {
    if (event[skipSpace(event, choices.start + 1)] !== endOfList) return event;
  }
  const response = objectOf(event, members, "response");
  const holder = response === undefined ? members : membersOf(event, response.start);
  const usage = objectOf(event, holder, "usage");
  return usage === undefined ? event : setCost(event, usage, credits);
}

function setCost(json: Uint8Array, { start, end }: JsonMember, credits: string): Uint8Array {
  const usage = json.subarray(start, end);
  const edited = editMembers(usage, membersOf(usage), new Map([["cost", credits]]));
  return splice(json, start, end, asBuffer(edited).toString());
}

function objectOf(json: Uint8Array, members: readonly JsonMember[], name: string): JsonMember | undefined {
  const member = memberOf(members, name);
  return member !== undefined && json[member.start] === brace ? member : undefined;
}
