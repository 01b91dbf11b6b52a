import { streamHeaders } from "../call/relay/stream-headers.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { type PendingBodies, roomFailure } from "../http/request-body.js";
import {
  encodedPieces,
  type KeptPlace,
  listInputItems,
  measureKept,
  readKeptResponse,
  readReplay,
  replayedEvents,
  shortText,
} from "../protocols/responses/kept-responses.js";
import type { Pace } from "./account-pace.js";

/** Far more than a client reads while it works. */
export const readPace: Pace = { burst: 200, perSecond: 20 };

/**
 * Reads a kept response, or a page of its input, for a client that takes it at its own pace. Until it has, the bytes count as
 * those of a body that waits.
 * @throws GatewayError 400, 404, 429, 503
 */
export async function readKept(
  request: GatewayRequest,
  endpoint: "response" | "input_items",
  place: KeptPlace,
  waiting: PendingBodies,
): Promise<GatewayResponse> {
  const take = (bytes: number) => {
    const failure = waiting.add(request, place.account, bytes);
    if (failure !== undefined) throw roomFailure(failure);
  };
  const replay = endpoint === "response" ? readReplay(request.query) : undefined;
  let isStreamed = false;
  try {
    // What could never have room is read alone.
    take(Math.min(await measureKept(place), waiting.maxAccountBytes));
    const texts =
      endpoint === "response" ? [await readKeptResponse(place)] : await listInputItems(place, request.query);
    waiting.drop(request);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const stream = (pieces: Iterator<Uint8Array, void>, type: Record<string, string>) => {
      take(Math.min(length, waiting.maxAccountBytes));
      isStreamed = true;
      return { status: 200, headers: type, body: piecesOf(pieces, () => waiting.drop(request)) };
    };
    if (replay !== undefined && request.method !== "HEAD") {
      return stream(replayedEvents(texts.join(""), replay), streamHeaders());
    }
    const headers = { "content-type": "application/json" };
    if (length <= shortText) return { status: 200, headers, body: texts.join("") };
    // Its adapter writes nothing of it.
    if (request.method === "HEAD") return { status: 200, headers, body: null };
    return stream(encodedPieces(texts), headers);
  } finally {
    if (!isStreamed) waiting.drop(request);
  }
}

/** Nothing is encoded before the client has taken what came before. @param ended - called when it wants no more. */
function piecesOf(pieces: Iterator<Uint8Array, void>, ended: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        let isOver = true;
        try {
          const result = pieces.next();
          isOver = result.done === true;
          return result;
        } finally {
          if (isOver) ended();
        }
      },
      async return() {
        ended();
        return { done: true, value: undefined };
      },
    }),
  };
}
