import { afterEach, describe, expect, it } from "vitest";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { readMessage } from "../../../support/operations/messages/messages-server.js";
import { allPairs, honest, type Pair, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

describe("an answer of nothing, whole and streamed", () => {
  it("has no blocks for a client of Messages, as Anthropic's own", async () => {
    pair = await startPair("messages", "chat/completions");
    pair.server.reply((request, response) =>
      (request.json.stream ? eventStream(chatChunks("", {})) : wholeAnswer(chatAnswer({ content: "" })))(
        request,
        response,
      ),
    );
    for (const stream of [false, true]) {
      const message = await readMessage(await pair.post({ stream }));
      expect(message).toMatchObject({ content: [], stop_reason: "end_turn" });
    }
  });
});

describe("`max_tokens: 0` of Messages", () => {
  it("goes to Anthropic's API as it is, and holds no output", async () => {
    pair = await startPair("messages", "messages");
    const answered = { usage: { input_tokens: 9, cache_creation_input_tokens: 0, output_tokens: 0 } };
    pair.server.reply(
      wholeAnswer({
        type: "message",
        role: "assistant",
        id: "msg_1",
        content: [],
        stop_reason: "max_tokens",
        ...answered,
      }),
    );
    const response = await pair.post({ max_tokens: 0 });
    expect(await response.json()).toMatchObject({
      content: [],
      stop_reason: "max_tokens",
      usage: { output_tokens: 0 },
    });
    expect(pair.sent()).toMatchObject({ max_tokens: 0 });
    expect(pair.events.at(-1)).toMatchObject({ tokens: { input: 9, output: 0 } });
  });

  it("is a 400 where there is no such cache", async () => {
    pair = await startPair("messages", "chat/completions");
    pair.server.reply(honest("chat/completions"));
    const response = await pair.post({ max_tokens: 0 });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("max_tokens");
    expect(pair.server.requests).toHaveLength(0);
  });

  it.each([-1, 0.5, "0"])("is the only number below 1 that is taken: not %j", async (cap) => {
    pair = await startPair("messages", "messages");
    expect((await pair.post({ max_tokens: cap })).status).toBe(400);
  });
});

describe.each(allPairs)(
  "a document in place of a stream, from $target to a client of $client,",
  ({ client, target }) => {
    it.each([{ detail: [{ msg: "boom" }] }, { object: "list", data: [] }])("has failed: %j", async (document) => {
      pair = await startPair(client, target);
      pair.server.reply((_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
      });
      expect((await pair.post({ stream: true })).status).toBe(502);
    });
  },
);
