import { afterEach, describe, expect, it } from "vitest";
import { chatCompletions } from "../../../../src/protocols/chat/chat-completions.js";
import { responses } from "../../../../src/protocols/responses/responses.js";
import { plainModel } from "../../../support/operations/responses/exchange-of.js";
import { ownSeal } from "../../../support/own-seal.js";
import { mostRealTokens } from "../../../support/real-tokenizers.js";
import { type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

type Client = Exclude<Spoken, "messages">;

const freeJson: Readonly<Record<Client, Record<string, unknown>>> = {
  "chat/completions": { response_format: { type: "json_object" } },
  responses: { text: { format: { type: "json_object" } } },
};

const bySchema: Readonly<Record<Client, Record<string, unknown>>> = {
  "chat/completions": { response_format: { type: "json_schema", json_schema: { name: "x", schema } } },
  responses: { text: { format: { type: "json_schema", name: "x", schema } } },
};

const plainText: Readonly<Record<Client, Record<string, unknown>>> = {
  "chat/completions": { response_format: { type: "text" } },
  responses: { text: { format: { type: "text" }, verbosity: "low" } },
};

const clients: readonly Client[] = ["chat/completions", "responses"];

const start = (client: Client, model: string) =>
  startPair(client, "messages", { model: { upstream: { provider: "fake", model } } });

/** The texts of the system prompt. */
function told(sent: Record<string, unknown>): string[] {
  return ((sent["system"] ?? []) as { text: string }[]).map(({ text }) => text);
}

describe.each(clients)("JSON for a client of %s, of a server of Messages", (client) => {
  it("is asked for in words behind the client's own", async () => {
    pair = await start(client, "claude-sonnet-4-5");
    const own =
      client === "responses"
        ? { instructions: "Be brief.", input: "Hi" }
        : {
            messages: [
              { role: "system", content: "Be brief." },
              { role: "user", content: "Hi" },
            ],
          };
    await pair.post({ ...own, ...freeJson[client] });
    expect(told(pair.sent())).toEqual(["Be brief.", expect.stringMatching(/one JSON object/)]);
    expect(pair.sent()).not.toHaveProperty("output_config");
  });

  it("is not where a text is asked for, or nothing", async () => {
    pair = await start(client, "some-model");
    for (const members of [{}, plainText[client]]) {
      await pair.post(members);
      expect(pair.sent()).not.toHaveProperty("system");
    }
  });

  it.each([
    ["claude-sonnet-4-5-20250929", true, false],
    ["claude-opus-4-1", true, false],
    ["anthropic.claude-haiku-5-1-v1:0", true, false],
    ["claude-sonnet-4-20250514", false, true],
    ["claude-3-5-haiku-latest", false, true],
    ["deepseek-chat", true, true],
  ])("by a schema, as %s: enforced %s, told %s", async (model, isEnforced, isTold) => {
    pair = await start(client, model);
    await pair.post(bySchema[client]);
    const { output_config: config } = pair.sent() as { output_config?: { format?: unknown } };
    expect(config?.format).toEqual(isEnforced ? { type: "json_schema", schema } : undefined);
    expect(told(pair.sent())).toEqual(isTold ? [expect.stringContaining(JSON.stringify(schema))] : []);
  });
});

describe.each(clients)("the tokens of what a model is told, for a client of %s", (client) => {
  const operation = { "chat/completions": chatCompletions, responses }[client];
  const held = async (members: object) => {
    const prompt = client === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
    const body = Buffer.from(JSON.stringify({ model: "acme/small", ...prompt, ...members }));
    const services = { maxBodyDepth: 64, maxBodyBytes: 1e6, responses: undefined, seal: ownSeal };
    const request = await operation.parse(body, services, { account: "a", header: () => undefined });
    return request.demand({ ...plainModel, translatesToMessages: true }, 100).heldPromptTokens;
  };

  it.each([
    ["without a schema", freeJson[client], 1],
    ["by a schema", bySchema[client], 2],
  ])("are held: %s", async (_name, members, copies) => {
    pair = await start(client, "deepseek-chat");
    await pair.post(members);
    const [instruction = ""] = told(pair.sent());
    const text = copies === 2 ? `${instruction}${JSON.stringify(schema, null, 1)}` : instruction;
    expect((await held(members)) - (await held({}))).toBeGreaterThanOrEqual(mostRealTokens(text).tokens);
  });
});

it("leaves a request for a message as it is", async () => {
  pair = await startPair("messages", "messages");
  const config = { format: { type: "json_schema", schema } };
  await pair.post({ output_config: config });
  expect(pair.sent()).toMatchObject({ output_config: config });
  expect(pair.sent()).not.toHaveProperty("system");
});
