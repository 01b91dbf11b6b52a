import { afterEach, describe, expect, it } from "vitest";
import { chatAnswer, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { allSpoken, type Pair, type Spoken, startPair } from "./start-pair.js";

type Json = Record<string, unknown>;

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "up" };
const usage = { prompt_tokens: 9, completion_tokens: 20, total_tokens: 29 };

function streamed(...deltas: Json[][]) {
  const choices = [
    ...deltas.map((calls) => ({ index: 0, delta: { tool_calls: calls }, finish_reason: null })),
    { index: 0, delta: {}, finish_reason: "tool_calls" },
  ];
  return eventStream([...choices.map((choice) => ({ ...head, choices: [choice] })), { ...head, choices: [], usage }]);
}

function whole(calls: Json[]) {
  const message = { role: "assistant", content: null, tool_calls: calls };
  return wholeAnswer({ ...chatAnswer(), choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage });
}

const call = (name: string, args: unknown, more: Json = {}): Json => ({
  ...{ id: `call_${name}`, type: "function", ...more },
  function: { name, arguments: args },
});

/** The calls as the client of each API has them: their names and what their tools get. */
async function callsOf(client: Spoken, response: Response, isStream: boolean): Promise<[unknown, unknown][]> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const json: Json[] = isStream
    ? text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Json] : []))
    : [JSON.parse(text) as Json];
  if (client === "responses") {
    const last = (isStream ? (json.at(-1)?.["response"] as Json) : json[0]) as { output: Json[] };
    return last.output.map((item) => [item["name"], JSON.parse(String(item["arguments"]))]);
  }
  if (client === "messages" && !isStream) {
    return (json[0] as { content: Json[] }).content.map((block) => [block["name"], block["input"]]);
  }
  const found = new Map<unknown, { name: unknown; text: string }>();
  if (client === "messages") {
    for (const { index, content_block: block, delta } of json as { [name: string]: Json | undefined }[]) {
      if (block?.["type"] === "tool_use") found.set(index, { name: block["name"], text: "" });
      const own = found.get(index);
      if (own !== undefined) own.text += String(delta?.["partial_json"] ?? "");
    }
  } else {
    for (const { choices } of json as unknown as { choices: { delta?: Json; message?: Json }[] }[]) {
      for (const [place, { index, function: called }] of (
        ((choices[0]?.delta ?? choices[0]?.message)?.["tool_calls"] as Json[] | undefined) ?? []
      ).entries()) {
        const { name, arguments: args = "" } = called as Json;
        const at = isStream ? index : place;
        const own = found.get(at) ?? { name, text: "" };
        found.set(at, own);
        expect(typeof args).toBe("string");
        own.text += String(args);
      }
    }
  }
  return [...found.values()].map(({ name, text: args }) => [name, JSON.parse(args)]);
}

describe.each(allSpoken)("tool calls of a server of chat completions, for a client of %s,", (client) => {
  it.each<[string, Json[][], [string, unknown][]]>([
    [
      "are two under one index",
      [[call("f", '{"x":1}', { index: 0 })], [call("g", '{"y":2}', { index: 0 })]],
      [
        ["f", { x: 1 }],
        ["g", { y: 2 }],
      ],
    ],
    [
      "are one whose id changes with each piece",
      [
        [call("f", "", { index: 0 })],
        [{ index: 0, id: "call_2", function: { arguments: '{"x":' } }],
        [{ index: 0, id: "call_3", function: { arguments: "1}" } }],
      ],
      [["f", { x: 1 }]],
    ],
    ["have what they get as an object", [[call("f", { x: 1 }, { index: 0 })]], [["f", { x: 1 }]]],
  ])("%s, streamed", async (_name, deltas, expected) => {
    pair = await startPair(client, "chat/completions");
    pair.server.reply(streamed(...deltas));
    expect(await callsOf(client, await pair.post({ stream: true }), true)).toEqual(expected);
  });

  it("come behind the end, streamed", async () => {
    pair = await startPair(client, "chat/completions");
    const ended = { ...head, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
    const late = { ...head, choices: [{ index: 0, delta: { tool_calls: [call("g", { y: 2 }, { index: 0 })] } }] };
    const first = { ...head, choices: [{ index: 0, delta: { tool_calls: [call("f", { x: 1 }, { index: 0 })] } }] };
    pair.server.reply(eventStream([first, ended, late, { ...head, choices: [], usage }]));
    expect(await callsOf(client, await pair.post({ stream: true }), true)).toEqual([
      ["f", { x: 1 }],
      ["g", { y: 2 }],
    ]);
  });

  it.each<[string, Json[], [string, unknown][]]>([
    ["have what they get as an object", [call("f", { x: 1 })], [["f", { x: 1 }]]],
    ["have nothing that they get", [call("f", null)], [["f", {}]]],
    [
      "have one index",
      [call("f", '{"x":1}', { index: 0 }), call("g", '{"y":2}', { index: 0 })],
      [
        ["f", { x: 1 }],
        ["g", { y: 2 }],
      ],
    ],
  ])("%s, whole", async (_name, calls, expected) => {
    pair = await startPair(client, "chat/completions");
    pair.server.reply(whole(calls));
    expect(await callsOf(client, await pair.post(), false)).toEqual(expected);
    // The same in place of a stream.
    expect(await callsOf(client, await pair.post({ stream: true }), true)).toEqual(expected);
  });
});

describe("what a tool gets is a text", () => {
  const items = [
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: { x: 1 }, status: "completed" },
    { type: "custom_tool_call", id: "ct_1", call_id: "call_2", name: "g", input: { y: [2] } },
  ];
  const counted = { input_tokens: 9, output_tokens: 20, total_tokens: 29 };
  const response = {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "up",
    output: items,
    usage: counted,
  };
  const steps: Json[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    ...items.flatMap((item, index) => {
      const kind = item.type === "function_call" ? "function_call_arguments" : "custom_tool_call_input";
      const said = item.arguments ?? item.input;
      return [
        { type: "response.output_item.added", output_index: index, item },
        { type: `response.${kind}.delta`, output_index: index, item_id: item.id, delta: said },
        {
          type: `response.${kind}.done`,
          output_index: index,
          item_id: item.id,
          [kind.endsWith("input") ? "input" : "arguments"]: said,
        },
        { type: "response.output_item.done", output_index: index, item },
      ];
    }),
    { type: "response.completed", response },
  ];
  const frames = eventStream(steps.map((step, number) => ({ ...step, sequence_number: number })));

  it.each([false, true])("at a server of responses, streamed: %s", async (stream) => {
    pair = await startPair("responses", "responses");
    for (const reply of [stream ? frames : wholeAnswer(response), wholeAnswer(response)]) {
      pair.server.reply(reply);
      const text = await (await pair.post({ stream })).text();
      expect(text).toContain('"arguments":"{\\"x\\":1}"');
      expect(text).toContain('"input":"{\\"y\\":[2]}"');
      expect(text).not.toMatch(/"(?:arguments|input|delta)":[^"]/);
    }
  });

  it("at a server of responses whose items are long", async () => {
    pair = await startPair("responses", "responses");
    const long = { ...response, output: [{ ...items[0], arguments: { x: "y".repeat(40_000) } }] };
    pair.server.reply(wholeAnswer(long));
    const { output } = (await (await pair.post()).json()) as { output: { arguments: string }[] };
    expect(JSON.parse(output[0]?.arguments ?? "")).toEqual({ x: "y".repeat(40_000) });
  });

  it.each([false, true])(
    "in the older call of a function, and in one of a custom tool, streamed: %s",
    async (stream) => {
      pair = await startPair("chat/completions", "chat/completions");
      const called = { name: "f", arguments: { x: 1 } };
      const own = { id: "call_1", type: "custom", custom: { name: "g", input: { y: 2 } } };
      for (const said of [{ function_call: called }, { tool_calls: [{ index: 0, ...own }] }]) {
        const message = { role: "assistant", content: null, ...said };
        const chunk = { ...head, choices: [{ index: 0, delta: message, finish_reason: null }] };
        const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage };
        const document = { ...chatAnswer(), choices: [{ index: 0, message, finish_reason: "stop" }], usage };
        for (const reply of [stream ? eventStream([chunk, end]) : wholeAnswer(document), wholeAnswer(document)]) {
          pair.server.reply(reply);
          const text = await (await pair.post({ stream })).text();
          expect(text).toMatch(/"arguments":"\{\\"x\\":1\}"|"input":"\{\\"y\\":2\}"/);
        }
      }
    },
  );
});
