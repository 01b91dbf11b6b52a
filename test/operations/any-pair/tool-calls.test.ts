import { afterEach, describe, expect, it } from "vitest";
import { chatAnswer, eventStream, wholeAnswer } from "../../../src/testing.js";
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
