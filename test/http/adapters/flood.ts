import { once } from "node:events";
import { chatChunks, type FakeAnswer, toEventBytes } from "../../../src/testing.js";

export const mostPieces = 3000;

/** Writes events of 64 KB as fast as they are taken, and counts them. */
export function floodOf(flood: { written: number }, pieces = mostPieces): FakeAnswer {
  const [role, text, ...finish] = chatChunks("x".repeat(64 * 1024)).map(toEventBytes);
  return async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(role);
    const closed = once(response, "close");
    for (flood.written = 0; flood.written < pieces && !response.destroyed; flood.written++) {
      if (!response.write(text)) await Promise.race([drained(response), closed]);
    }
    for (const piece of finish) response.write(piece);
    response.end("data: [DONE]\n\n");
  };
}

function drained(response: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => response.once("drain", resolve));
}

/** Waits until nothing more has been written for a while. */
export async function stalled(flood: { written: number }): Promise<void> {
  for (let last = -1; last !== flood.written; ) {
    last = flood.written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
