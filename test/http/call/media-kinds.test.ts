import { afterAll, describe, expect, it } from "vitest";
import { chatAnswer, wholeAnswer } from "../../../src/testing.js";
import { smallModel, startTestGateway } from "../../support/test-gateway.js";

const image = "data:image/png;base64,AAAA";
const video = "data:video/mp4;base64,AAAA";
const youTube = "https://www.youtube.com/watch?v=abc";

/** A chat, a response, a message, and the results of their tools. */
const requests: readonly [string, string, (url: string) => object][] = [
  [
    "a chat",
    "chat/completions",
    (url) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] }),
  ],
  [
    "a tool's result in a chat",
    "chat/completions",
    (url) => ({
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "a", content: [{ type: "image_url", image_url: { url } }] },
      ],
    }),
  ],
  [
    "a request for a response",
    "responses",
    (url) => ({ input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }),
  ],
  [
    "a tool's result in a request for a response",
    "responses",
    (url) => ({
      input: [
        { role: "user", content: "Look." },
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: [{ type: "input_image", image_url: url }] },
      ],
    }),
  ],
  [
    "a request for a message",
    "messages",
    (url) => ({ messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }] }),
  ],
  [
    "a tool's result in a request for a message",
    "messages",
    (url) => ({
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [{ type: "image", source: { type: "url", url } }] },
          ],
        },
      ],
    }),
  ],
];

describe("what an image says that it is", async () => {
  const test = await startTestGateway({
    models: [{ ...smallModel, price: { input: 1, output: 0 }, tokenBounds: { image: 1000, file: 20_000 } }],
  });
  afterAll(() => test.close());
  test.upstream.reply(wholeAnswer(chatAnswer()));

  const held = async (path: string, body: object) => {
    const ended = test.nextEvent();
    const response = await test.gateway.handler(
      new Request(`http://gateway.test/v1/${path}`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({
          model: smallModel.id,
          ...(path === "responses" ? { max_output_tokens: 9 } : { max_tokens: 9 }),
          ...body,
        }),
      }),
    );
    await response.text();
    expect(response.status).toBe(200);
    return (await ended).heldMicro ?? 0;
  };

  it.each(requests)("is what is held in %s", async (_name, path, bodyOf) => {
    const ofImage = await held(path, bodyOf(image));
    expect(ofImage).toBeGreaterThanOrEqual(1000);
    expect(ofImage).toBeLessThan(3000);
    expect(await held(path, bodyOf("https://images.test/a.png"))).toBeLessThan(3000);
    for (const url of ["data:application/pdf;base64,AAAA", "data:text/plain;base64,AAAA"]) {
      const ofFile = await held(path, bodyOf(url));
      expect(ofFile).toBeGreaterThanOrEqual(20_000);
      expect(ofFile).toBeLessThan(23_000);
    }
    for (const url of [video, youTube]) {
      expect(await held(path, bodyOf(url))).toBeGreaterThanOrEqual(smallModel.contextLength ?? 128_000);
    }
  });
});
