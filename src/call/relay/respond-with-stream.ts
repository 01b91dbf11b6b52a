import type { GatewayResponse } from "../../http/message.js";
import type { Exchange } from "../../protocols/shared/operation.js";
import type { ByteAnswer } from "../../protocols/shared/stream-codec.js";
import type { DirectResponse } from "../../providers/direct-call.js";
import { leaveUnread, nextPiece, type PieceReader, type PieceSource, readPiece } from "../../wire/piece-source.js";
import { addCreditHeaders, addRateHeaders } from "../admission/credit-headers.js";
import type { Attempt } from "../attempt.js";
import type { Departure } from "../departure.js";
import { clientLeft } from "./abort-error.js";
import { streamHeaders } from "./stream-headers.js";
import { StreamRelay } from "./stream-relay.js";

/**
 * Relays a stream. Failures before its first piece get a status of their own.
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export function respondWithStream(
  attempt: Attempt,
  exchange: Exchange,
  { body }: DirectResponse,
): Promise<GatewayResponse> {
  const { review, observer } = attempt.call;
  const keep = exchange.keep && ((instead?: string) => exchange.keep?.(instead) ?? Promise.resolve());
  const { texts } = observer;
  if (review === undefined)
    return relayStream(attempt, new StreamRelay(attempt, exchange.readStream(), body, { keep, texts }));
  const codec = review.collect(exchange);
  const ending = { keep, texts, review: (closing: Uint8Array) => review.ofStream(codec, closing) };
  return relayStream(attempt, new StreamRelay(attempt, codec, body, ending), streamHeaders(), codec.begun);
}

/**
 * Relays bytes as they come. Failures before the first of them get a status of their own; after it, the connection breaks off.
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export function respondWithBytes(
  attempt: Attempt,
  exchange: Exchange,
  answer: DirectResponse,
): Promise<GatewayResponse> {
  let codec: ByteAnswer;
  try {
    if (exchange.readBytes === undefined) throw new TypeError(`${exchange.operation} has no bytes.`);
    codec = exchange.readBytes(answer.headers);
  } catch (error) {
    leaveUnread(answer.body);
    throw error;
  }
  return relayStream(attempt, new StreamRelay(attempt, codec, answer.body), {
    "content-type": withoutKeys(codec.contentType, attempt),
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  });
}

/** A server may put anything there. */
function withoutKeys(contentType: string, { keyMask }: Attempt): string {
  return (keyMask?.hideWord(contentType) ?? contentType) === contentType ? contentType : "application/octet-stream";
}

/** @param begun - the target has something for the client, which guards hold back. Absent: its first piece is that. */
async function relayStream(
  attempt: Attempt,
  pieces: StreamRelay,
  headers = streamHeaders(),
  begun?: Promise<void>,
): Promise<GatewayResponse> {
  const { call } = attempt;
  const coming = pieces.next();
  if (begun !== undefined) await Promise.race([coming, begun]);
  else await coming;
  // The client may have left in the same turn of the event loop.
  attempt.commit();
  const first = await coming;
  const { departure } = call;
  const { reservation } = call.settlement;
  if (reservation !== undefined) {
    const { credits, rules } = reservation;
    addRateHeaders(addCreditHeaders(headers, credits), credits.rates, rules);
  }
  call.stream = pieces;
  if (!first.done) pieces.unread(first.value);
  let rest: Promise<void> | undefined;
  departure?.whenLeft(() => {
    rest = pieces.readOn(departure);
  });
  if (rest === undefined) return { status: 200, headers, body: new StreamBody(call, pieces) };
  await rest;
  throw clientLeft();
}

/** The part of a call that its stream needs. */
interface LeftCall {
  readonly departure: Pick<Departure, "hasLeft"> | undefined;
  clientLeft(): Pick<Departure, "hasLeft"> | undefined;
}

/** A stream as its client gets it. Where the call goes on without its client, the relay is read by the call. */
export class StreamBody implements AsyncIterableIterator<Uint8Array, undefined>, PieceSource {
  readonly isByTick = true;
  readonly #call: LeftCall;
  readonly #relay: StreamRelay;

  constructor(call: LeftCall, relay: StreamRelay) {
    this.#call = call;
    this.#relay = relay;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [readPiece](reader: PieceReader): void {
    if (this.#call.departure?.hasLeft === true) reader.ended();
    else this.#relay[readPiece](reader);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return nextPiece(this);
  }

  /** The client has left, or has all of the stream. */
  leave(): void {
    if (this.#call.clientLeft()?.hasLeft !== true) this.#relay.leave();
  }

  /** Resolves when the call is settled, unless it goes on. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#call.clientLeft()?.hasLeft !== true) await this.#relay.return();
    return { done: true, value: undefined };
  }
}
