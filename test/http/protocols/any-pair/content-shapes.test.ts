import { afterEach, describe, expect, it } from "vitest";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

interface Place {
  param: string;
  members(content: unknown): Record<string, unknown>;
}

const inMessage = (param: string): Place => ({
  param,
  members: (content) => ({ messages: [{ role: "user", content }] }),
});

/** Where a content stands in the requests of each API. */
const places: Readonly<Record<Spoken, readonly Place[]>> = {
  "chat/completions": [inMessage("messages[0].content")],
  responses: [{ param: "input[0].content", members: (content) => ({ input: [{ role: "user", content }] }) }],
  messages: [inMessage("messages.0.content"), { param: "system", members: (system) => ({ system }) }],
};

const wrong = { "a number": 5, "a boolean": true, "an object": { type: "text", text: "Hi" } };
const wrongParts = { "a number": [5], null: [null], "a list": [[{ type: "text", text: "Hi" }]], "a boolean": [true] };

const cases = allPairs.flatMap(({ client, target }) =>
  places[client].flatMap(({ param, members }) => [
    ...Object.entries(wrong).map(([name, value]) => ({ client, target, param, members, name, value })),
    ...Object.entries(wrongParts).map(([name, value]) => ({
      client,
      target,
      param,
      members,
      name: `[${name}]`,
      value,
    })),
  ]),
);

describe("a content of a shape that no reference has", () => {
  it.each(cases)("$client on $target: $param is $name", async ({ client, target, param, members, value }) => {
    pair = await startPair(client, target);
    const response = await pair.post(members(value));
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([400, "invalid_type"]);
    expect(error.message).toContain(param);
    expect(pair.server.requests).toHaveLength(0);
  });
});

describe("a message without a content", () => {
  it.each([{}, { content: null }])("is refused of Anthropic's clients: %j", async (content) => {
    pair = await startPair("messages", "messages");
    const response = await pair.post({ messages: [{ role: "user", ...content }] });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("messages.0.content");
  });

  it("is one of a client of chat completions that holds calls alone", async () => {
    pair = await startPair("chat/completions", "messages");
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: "7" },
    ];
    expect((await pair.post({ messages })).status).toBe(200);
  });
});

describe("a content inside of a part", () => {
  it.each(["chat/completions", "messages"] as const)("is refused on %s where it is a number", async (target) => {
    pair = await startPair("messages", target);
    const result = { type: "tool_result", tool_use_id: "a", content: 5 };
    const response = await pair.post({ messages: [{ role: "user", content: [result] }] });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("messages.0.content.0.content");
  });
});

it("reads texts that stand in a list of parts as they are", async () => {
  pair = await startPair("chat/completions", "messages");
  await pair.post({ messages: [{ role: "user", content: ["Say ", { type: "text", text: "hello." }] }] });
  expect(pair.sent()["messages"]).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "Say " },
        { type: "text", text: "hello." },
      ],
    },
  ]);
});
