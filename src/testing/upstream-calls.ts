import { Buffer } from "node:buffer";
import type { UpstreamCall } from "../providers/upstream-provider.js";

/** A call as the pipeline makes it; every field can be replaced. */
export function upstreamCall(fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const stream = fields.stream ?? false;
  const request = { model: "sample-model", messages: [{ role: "user", content: "Hi" }], stream };
  return {
    endpoint: "chat/completions",
    model: "sample-model",
    body: Buffer.from(JSON.stringify(request)),
    stream,
    signal: new AbortController().signal,
    requestId: "req_test",
    ...fields,
  };
}

/** Everything that a body still has to give, in one piece. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads until `length` bytes are there, which must be a boundary between pieces. Leaves the iteration open. */
export async function readBytes(iterator: AsyncIterator<Uint8Array>, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let rest = length; rest > 0; ) {
    const result = await iterator.next();
    if (result.done) throw new Error(`The body ended ${rest} bytes too early.`);
    pieces.push(result.value);
    rest -= result.value.length;
  }
  return Buffer.concat(pieces);
}
