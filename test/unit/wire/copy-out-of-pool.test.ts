import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { parseChatRequest } from "../../../src/protocols/chat/chat-request.js";
import { toUpstreamBody } from "../../../src/protocols/chat/encode-chat-request.js";
import { unpooled } from "../../../src/wire/bytes.js";
import { atOnce } from "../../../src/wire/slices.js";

it("gives short bytes memory of their own, and leaves long ones, which have it, alone", () => {
  const short = Buffer.from("short");
  const own = unpooled(short);
  expect(own).toEqual(short);
  expect(own.buffer.byteLength).toBe(short.length);
  const long = Buffer.allocUnsafe(Buffer.poolSize);
  expect(unpooled(long)).toBe(long);
});

it.each([{}, { stream_options: { include_usage: true } }])(
  "keeps none of the runtime's pool for as long as a stream is open: %o",
  (more) => {
    const body = Buffer.from(
      JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], stream: true, ...more }),
    );
    const sent = toUpstreamBody(atOnce(parseChatRequest(body, 10)), {
      model: "at the upstream",
      maxOutputTokens: undefined,
    });
    expect(sent.buffer.byteLength).toBe(sent.length);
    expect(JSON.parse(String(sent))).toMatchObject({
      model: "at the upstream",
      stream_options: { include_usage: true },
    });
  },
);
