import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { chatCompletions } from "../../../../src/protocols/chat/chat-completions.js";
import { collect } from "../../../e2e/clients/collect.js";
import { plainModel } from "../../../support/operations/responses/exchange-of.js";
import { ownSeal } from "../../../support/own-seal.js";
import { mostRealTokens } from "../../../support/real-tokenizers.js";
import { honest, type Pair, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const model = "acme/small";
const grammar = { syntax: "lark" as const, definition: 'start: "a"' };
const patch = {
  type: "custom" as const,
  custom: { name: "patch", description: "Patches.", format: { type: "grammar" as const, grammar } },
};
const look = { type: "function" as const, function: { name: "look", parameters: { type: "object" } } };
const messages = [{ role: "user" as const, content: "Hi" }];

const calls = [
  { id: "call_1", name: "patch", arguments: JSON.stringify({ input: "*** Begin\n+a" }) },
  { id: "call_2", name: "look", arguments: '{"at":"x"}' },
];

async function start() {
  pair = await startPair("chat/completions", "messages");
  const { gateway, server } = pair;
  server.reply(honest("messages", { calls }));
  const fetch = (url: string | URL | Request, init?: RequestInit) => gateway.handler(new Request(url, init));
  return { ...pair, client: new OpenAI({ apiKey: "sk-pro", baseURL: "http://gateway.test/v1", maxRetries: 0, fetch }) };
}

describe("custom tools of chat completions, at a server of Messages,", () => {
  it("are functions there, and custom tools again in whole answers", async () => {
    const { client, sent } = await start();
    const { choices } = await client.chat.completions.create({ model, messages, tools: [patch, look] });
    expect(choices[0]?.message.tool_calls).toEqual([
      { id: "call_1", type: "custom", custom: { name: "patch", input: "*** Begin\n+a" } },
      { id: "call_2", type: "function", function: { name: "look", arguments: '{"at":"x"}' } },
    ]);
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    const [first] = sent()["tools"] as { description: string; input_schema: object }[];
    expect(first?.description).toMatch(/Patches\..*one raw text.*lark.*start: "a"/s);
    expect(first?.input_schema).toMatchObject({ required: ["input"] });
  });

  it("are so in streams", async () => {
    const { client } = await start();
    const stream = await client.chat.completions.create({ model, messages, tools: [patch, look], stream: true });
    const found: Record<number, { id?: string | undefined; type?: string | undefined; text: string }> = {};
    let finish: string | null = null;
    for (const { choices } of await collect(stream)) {
      finish ??= choices[0]?.finish_reason ?? null;
      for (const call of choices[0]?.delta.tool_calls ?? []) {
        const own = found[call.index] ?? { id: call.id, type: call.type, text: "" };
        found[call.index] = own;
        const { custom } = call as { custom?: { input?: string } };
        own.text += custom?.input ?? call.function?.arguments ?? "";
      }
    }
    expect(finish).toBe("tool_calls");
    expect(found).toEqual({
      0: { id: "call_1", type: "custom", text: "*** Begin\n+a" },
      1: { id: "call_2", type: "function", text: '{"at":"x"}' },
    });
  });

  it("go on from their calls, and can be chosen", async () => {
    const { client, sent } = await start();
    await client.chat.completions.create({
      model,
      messages: [
        ...messages,
        { role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "patch", input: "+b" } }] },
        { role: "tool", tool_call_id: "a", content: "done" },
      ],
      tools: [patch, look],
      tool_choice: { type: "custom", custom: { name: "patch" } },
    });
    const [, turn, result] = sent()["messages"] as { content: object[] }[];
    expect(turn?.content).toEqual([{ type: "tool_use", id: "a", name: "patch", input: { input: "+b" } }]);
    expect(result?.content).toMatchObject([{ type: "tool_result", tool_use_id: "a" }]);
    expect(sent()["tool_choice"]).toEqual({ type: "tool", name: "patch" });
  });

  it("are held with what is said of them", async () => {
    const { client, sent } = await start();
    await client.chat.completions.create({ model, messages, tools: [patch] });
    const held = async (members: object) => {
      const body = Buffer.from(JSON.stringify({ model, messages, ...members }));
      const services = { maxBodyDepth: 64, maxBodyBytes: 1e6, responses: undefined, seal: ownSeal };
      const request = await chatCompletions.parse(body, services, { account: "a", header: () => undefined });
      return request.demand({ ...plainModel, translatesToMessages: true }, 100).heldPromptTokens;
    };
    const described = JSON.stringify(sent()["tools"], null, 2);
    expect((await held({ tools: [patch] })) - (await held({}))).toBeGreaterThanOrEqual(
      mostRealTokens(described).tokens,
    );
  });
});
