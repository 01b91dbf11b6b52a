import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { chatAnswer, chatChunks } from "../chat-samples.js";
import type { Gate } from "../gate.js";

/** Answers one request. Write one by hand, or take one of the presets in this file. */
export type FakeAnswer = (request: FakeRequest, response: ServerResponse) => void | Promise<void>;

export interface AnswerOptions {
  /** Default: 200. */
  status?: number;
  /** Added to, or instead of, the preset's own. */
  headers?: OutgoingHttpHeaders;
  /** Passed once before the headers are sent. */
  gate?: Gate;
}

/** A whole answer: objects as JSON, strings and bytes as they are. Default: `chatAnswer()`. */
export function wholeAnswer(
  body: object | string | Uint8Array = chatAnswer(),
  options: AnswerOptions = {},
): FakeAnswer {
  return async (_request, response) => {
    await options.gate?.pass();
    const isText = typeof body === "string";
    const bytes = isText || body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    response.writeHead(options.status ?? 200, {
      "content-type": isText ? "text/html; charset=utf-8" : "application/json",
      "content-length": bytes.length,
      ...options.headers,
    });
    response.end(bytes);
  };
}

/**
 * What happens after the last piece. "end": a proper end. "cut": the connection is closed (TCP FIN), whatever is
 * missing. "reset": the connection is reset (TCP RST), which may swallow bytes just written. "hang": nothing more comes.
 */
export type StreamEnd = "end" | "cut" | "reset" | "hang";

export interface EventStreamOptions extends Omit<AnswerOptions, "gate"> {
  /** Passed before the headers and then before each piece, and once more before the end. Default: no waiting. */
  gate?: Gate;
  /** Ends with `data: [DONE]`. Default: true if `end` is "end". */
  done?: boolean;
  /** Default: "end". */
  end?: StreamEnd;
  /** Cuts the whole stream into pieces of this many bytes, each written on its own. Default: one piece per event. */
  pieceBytes?: number;
}

/** Server-sent events: objects become `data:` lines, strings and bytes are written as they are. Default: `chatChunks()`. */
export function eventStream(
  events: readonly (object | string | Uint8Array)[] = chatChunks(),
  options: EventStreamOptions = {},
): FakeAnswer {
  const end = options.end ?? "end";
  let pieces = events.map(toEventBytes);
  if (options.done ?? end === "end") {
    pieces.push(Buffer.from("data: [DONE]\n\n"));
  }
  if (options.pieceBytes) {
    pieces = splitBytes(Buffer.concat(pieces), options.pieceBytes);
  }
  return async (request, response) => {
    await options.gate?.pass();
    response.writeHead(options.status ?? 200, {
      "content-type": "text/event-stream; charset=utf-8",
      ...options.headers,
    });
    response.flushHeaders();
    for (const piece of pieces) {
      await options.gate?.pass();
      await writePiece(response, piece);
    }
    await options.gate?.pass();
    if (end === "end") {
      response.end();
    } else {
      endSocket(request.socket, end);
    }
  };
}

/** One event as it goes over the wire. */
export function toEventBytes(event: object | string | Uint8Array): Buffer {
  if (typeof event === "string" || event instanceof Uint8Array) {
    return Buffer.from(event);
  }
  return Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
}

/** Takes the request and sends nothing. */
export function hangBeforeHeaders(): FakeAnswer {
  return () => {};
}

/** Sends status and headers, then never a byte of the body. */
export function hangAfterHeaders(options: AnswerOptions = {}): FakeAnswer {
  return async (_request, response) => {
    await options.gate?.pass();
    response.writeHead(options.status ?? 200, { "content-type": "text/event-stream", ...options.headers });
    response.flushHeaders();
  };
}

/** Resets the connection (TCP RST) instead of answering. */
export function resetBeforeHeaders(options: { gate?: Gate } = {}): FakeAnswer {
  return async (request) => {
    await options.gate?.pass();
    request.socket.resetAndDestroy();
  };
}

/**
 * Writes these bytes to the connection in place of an answer, each on its own, and then ends the connection
 * ("end" and "cut" are the same here). For anything that Node's server would not say, such as garbage,
 * a body without length, or a wrong content-length.
 */
export function rawAnswer(
  pieces: readonly (string | Uint8Array)[],
  options: { end?: StreamEnd; gate?: Gate } = {},
): FakeAnswer {
  return async ({ socket }) => {
    for (const piece of pieces) {
      await options.gate?.pass();
      socket.write(piece);
    }
    await options.gate?.pass();
    endSocket(socket, options.end ?? "end");
  };
}

/**
 * Does what a real server does: reads the request, and responds whole or as a stream, as `stream` wants it, with the
 * requested model. The stream has usage when `stream_options.include_usage` is set.
 */
export function honestChat(content = "Hello world"): FakeAnswer {
  return (request, response) => {
    const { model, stream, stream_options: streamOptions } = request.json;
    const answer = stream
      ? eventStream(chatChunks(content, { model, ...(streamOptions?.include_usage ? {} : { usage: null }) }))
      : wholeAnswer(chatAnswer({ model, content }));
    return answer(request, response);
  };
}

function endSocket(socket: Socket, end: StreamEnd): void {
  if (end === "reset") {
    socket.resetAndDestroy();
  } else if (end !== "hang") {
    socket.destroySoon();
  }
}

async function writePiece(response: ServerResponse, piece: Uint8Array): Promise<void> {
  if (!response.destroyed && !response.write(piece)) {
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off("drain", done).off("close", done);
        resolve();
      };
      response.on("drain", done).on("close", done);
    });
  }
}

function splitBytes(bytes: Buffer, length: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += length) {
    pieces.push(bytes.subarray(start, start + length));
  }
  return pieces;
}

/** One request that has reached a fake upstream, with its body read to the end. */
export interface FakeRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent: shows case, order and duplicates. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body as JSON; throws when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it has sent, and asserts on it
  readonly json: any;
  /** The connection it came on: the same object for two requests means the connection was reused. */
  readonly socket: Socket;
  /** Resolves when the exchange is over: `completed`, or `broken` when the connection closed before the answer's end. */
  readonly closed: Promise<"completed" | "broken">;
}
