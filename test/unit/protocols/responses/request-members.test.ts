import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { chatAnswer } from "../../../../src/testing.js";
import { exchangeOf } from "../../../support/operations/responses/exchange-of.js";
import { chatServer, nativeServer, type SampleServer } from "../../../support/operations/responses/response-samples.js";

type Json = Record<string, unknown>;

const bodyOf = (members: Json) => JSON.stringify({ model: "acme/small", input: "Hi", ...members });

async function sentTo(kind: SampleServer, members: Json): Promise<Json> {
  return JSON.parse(Buffer.from((await exchangeOf(kind, bodyOf(members))).body).toString()) as Json;
}

/** What the response of a translated request repeats of it. */
async function echoOf(members: Json): Promise<Json> {
  const exchange = await exchangeOf(chatServer, bodyOf(members));
  const { body } = await exchange.readWhole(Buffer.from(JSON.stringify(chatAnswer())));
  return JSON.parse(String(body)) as Json;
}

const get = { type: "function", name: "get", parameters: { type: "object" }, strict: true };
const schema = { type: "object", properties: {} };
const chatGet = { type: "function", function: { name: "get", parameters: { type: "object" }, strict: true } };

interface Row {
  members: Json;
  /** What a chat completion has of it, beside model and messages. Default: nothing. */
  chat?: Json;
  /** What the response says. Default: the same as was sent. */
  echo?: Json;
  /** What a server of this API gets. Default: the same as was sent. */
  native?: Json;
}

const rows: [string, Row][] = [
  ["stream", { members: { stream: true }, chat: { stream: true, stream_options: { include_usage: true } }, echo: {} }],
  ["stream_options", { members: { stream_options: { include_obfuscation: false } }, echo: {} }],
  ["max_output_tokens", { members: { max_output_tokens: 50 }, chat: { max_completion_tokens: 50 } }],
  ["max_tool_calls", { members: { max_tool_calls: 3 } }],
  ["temperature", { members: { temperature: 0.5 }, chat: { temperature: 0.5 } }],
  ["top_p", { members: { top_p: 0.5 }, chat: { top_p: 0.5 } }],
  ["top_logprobs", { members: { top_logprobs: 4 }, chat: { logprobs: true, top_logprobs: 4 } }],
  [
    "include, of logprobs",
    { members: { include: ["message.output_text.logprobs"] }, chat: { logprobs: true }, echo: {} },
  ],
  ["include, of what is not known", { members: { include: ["x.y"] }, echo: {} }],
  ["include, empty", { members: { include: [] }, echo: {} }],
  ["tools", { members: { tools: [get] }, chat: { tools: [chatGet] } }],
  ["tools, none", { members: { tools: [], tool_choice: "auto", parallel_tool_calls: true } }],
  [
    "tool_choice",
    {
      members: { tools: [get], tool_choice: { type: "function", name: "get" } },
      chat: { tools: [chatGet], tool_choice: { type: "function", function: { name: "get" } } },
    },
  ],
  [
    "parallel_tool_calls",
    { members: { tools: [get], parallel_tool_calls: false }, chat: { tools: [chatGet], parallel_tool_calls: false } },
  ],
  ["text, empty", { members: { text: {} }, echo: { text: { format: { type: "text" } } } }],
  ["text.format, null", { members: { text: { format: null } }, echo: { text: { format: { type: "text" } } } }],
  ["text.format, text", { members: { text: { format: { type: "text" } } } }],
  [
    "text.format, json_object",
    { members: { text: { format: { type: "json_object" } } }, chat: { response_format: { type: "json_object" } } },
  ],
  [
    "text.format, json_schema",
    {
      members: { text: { format: { type: "json_schema", name: "out", schema, strict: true, description: "x" } } },
      chat: {
        response_format: { type: "json_schema", json_schema: { name: "out", schema, strict: true, description: "x" } },
      },
    },
  ],
  [
    "text.verbosity",
    {
      members: { text: { verbosity: "low" } },
      chat: { verbosity: "low" },
      echo: { text: { verbosity: "low", format: { type: "text" } } },
    },
  ],
  [
    "reasoning.effort",
    {
      members: { reasoning: { effort: "xhigh" } },
      chat: { reasoning_effort: "xhigh" },
      echo: { reasoning: { effort: "xhigh", summary: null } },
    },
  ],
  [
    "reasoning, the rest",
    {
      members: { reasoning: { summary: "auto", generate_summary: "auto", context: "all", mode: "x" } },
      echo: { reasoning: { effort: null, summary: "auto" } },
    },
  ],
  ["store", { members: { store: true }, native: { store: false }, echo: { store: false } }],
  ["background", { members: { background: false } }],
  ["truncation", { members: { truncation: "auto" }, echo: { truncation: "disabled" } }],
  ["context_management", { members: { context_management: [{ type: "compaction" }] }, echo: {} }],
  ["metadata", { members: { metadata: { a: "b" } } }],
  ["prompt_cache_key", { members: { prompt_cache_key: "thread" } }],
  ["safety_identifier", { members: { safety_identifier: "someone" } }],
  ["user", { members: { user: "someone" }, chat: { user: "someone" } }],
  ["service_tier", { members: { service_tier: "priority" }, echo: { service_tier: "default" } }],
  ["moderation", { members: { moderation: {} }, echo: {} }],
  ["client_metadata", { members: { client_metadata: { turn_id: "x" } }, echo: {} }],
  ["a member to come", { members: { future: [1.5, null] }, echo: {} }],
  ["a name that all objects have", { members: { constructor: 1, toString: 2, valueOf: null }, echo: {} }],
];

describe("a member of a request", () => {
  it.each(rows)("%s: a server of this API gets it", async (_name, { members, native = members }) => {
    expect(await sentTo(nativeServer, members)).toEqual({ model: "up", store: false, input: "Hi", ...native });
  });

  it.each(rows)("%s: a server of chat completions gets what means the same", async (_name, { members, chat = {} }) => {
    const messages = [{ role: "user", content: "Hi" }];
    expect(await sentTo(chatServer, members)).toEqual({ model: "up", messages, ...chat });
  });

  it.each(rows)("%s: the response repeats what is so", async (_name, { members, echo = members }) => {
    const { stream: _whole, ...asked } = members;
    expect(await echoOf(asked)).toMatchObject(echo);
  });

  it.each(rows)("%s: null is as good as nothing", async (_name, { members }) => {
    const nothing = Object.fromEntries(Object.keys(members).map((name) => [name, null]));
    expect(await sentTo(chatServer, nothing)).toEqual(await sentTo(chatServer, {}));
    expect({ ...(await echoOf(nothing)), completed_at: 0 }).toEqual({ ...(await echoOf({})), completed_at: 0 });
  });

  const wrong: [string, unknown[]][] = [
    ["model", [7, "", null, {}]],
    ["input", [7, true, {}, [7], [[]], [null], []]],
    ["instructions", [7, {}, []]],
    ["stream", ["true", 1, {}]],
    ["stream_options", ["x", [], true]],
    ["max_output_tokens", ["many", 0, -1, 1.5, {}]],
    ["tools", ["x", {}, [7], [[]]]],
    ["tool_choice", [7, [], true]],
    ["parallel_tool_calls", ["yes", 0]],
    ["text", ["x", []]],
    ["reasoning", ["high", []]],
    ["include", ["x", {}, [7]]],
    ["store", ["no", 0]],
    ["previous_response_id", [7, "", {}]],
    ["metadata", ["x", [], Object.fromEntries(Array.from({ length: 17 }, (_none, index) => [`k${index}`, "x"]))]],
    ["background", [true, "x"]],
    ["conversation", ["conv_1", { id: "conv_1" }]],
    ["prompt", [{ id: "p" }]],
    ["n", [2]],
    ["messages", [[]]],
    ["max_tokens", [5]],
    ["max_completion_tokens", [5]],
  ];

  it.each(wrong)("%s: any other kind is refused, with its place", async (name, values) => {
    for (const value of values) {
      for (const kind of [chatServer, nativeServer]) {
        await expect(exchangeOf(kind, bodyOf({ [name]: value }))).rejects.toMatchObject({
          status: 400,
          type: "invalid_request_error",
          param: expect.stringMatching(new RegExp(`^${name}(?:[.[]|$)`)),
        });
      }
    }
  });
});
