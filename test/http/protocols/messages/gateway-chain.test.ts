import { afterEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../../src/providers/presets.js";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { type ClientServer, startServer } from "../../../e2e/clients/start-server.js";
import { postMessage, readMessage } from "../../../support/operations/messages/messages-server.js";
import { smallModel } from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A gateway behind another one, in front of a server of chat completions, and behind that a third, by the API of each. */
async function startChain(): Promise<ClientServer[]> {
  const chain = [await startServer()];
  for (const preset of [anthropic, openAICompatible]) {
    const fake = preset({ baseURL: chain.at(-1)?.baseURL ?? "", apiKey: "sk-pro" });
    const upstream = { provider: "fake", model: "acme/small" };
    chain.push(await startServer({ models: [{ ...smallModel, upstream }], providers: { fake } }));
  }
  for (const server of chain.toReversed()) closers.push(() => server.close());
  return chain;
}

/** Less than the prompt is taken for before it is counted. */
const usage = {
  prompt_tokens: 9,
  completion_tokens: 9,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 4 },
};

describe("gateways behind each other", () => {
  it.each([false, true])("charge the same, whichever API they speak with each other (stream: %s)", async (stream) => {
    const chain = await startChain();
    const [first, ...others] = chain;
    first?.upstream.reply(
      stream
        ? eventStream(chatChunks("Hello world", { usage }))
        : wholeAnswer(chatAnswer({ content: "Hello world", usage })),
    );
    const message = await readMessage(await postMessage(chain.at(-1)?.baseURL ?? "", { stream }));
    expect(message).toMatchObject({
      model: "acme/small",
      content: [{ type: "text", text: "Hello world" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 9 },
    });
    // 5 fresh, 4 cached at a half, 9 of output at ten.
    const charged = { chargedMicro: 97, tokens: { input: 9, cachedInput: 4, output: 9, reasoning: 0 } };
    for (const server of [first, ...others]) {
      await server?.checkBooks();
      expect(server?.events).toMatchObject([{ ...charged, usageSource: "provider" }]);
    }
    expect(chain.map(({ events }) => events[0]?.endpoint)).toEqual(["messages", "chat/completions", "messages"]);
  });
});
