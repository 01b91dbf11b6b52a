import { expect, it } from "vitest";
import { chunkParts } from "../../../../src/protocols/translate/chat-client-sink.js";

const chunk = (delta: object, more: object = {}) => ({
  id: "chatcmpl-1",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const long = "é👋x".repeat(60_000);

interface Choice {
  readonly delta: {
    readonly role?: string;
    readonly content?: string;
    readonly tool_calls?: readonly { index: number; id?: string; function: { arguments: string } }[];
  };
  readonly finish_reason: string | null;
}

const choicesOf = (parts: Iterable<Readonly<Record<string, unknown>>>) =>
  [...parts].map(({ choices }) => (choices as readonly Choice[])[0] as Choice);

it("a long text is said in several chunks, of which the first begins and the last ends", () => {
  const choices = choicesOf(chunkParts(chunk({ role: "assistant", content: long }, { finish_reason: "stop" })) ?? []);
  expect(choices.length).toBeGreaterThan(3);
  expect(choices.map(({ delta }) => delta.content).join("")).toBe(long);
  for (const { delta } of choices) expect(delta.content?.isWellFormed()).toBe(true);
  expect(choices.map(({ delta }) => delta.role)).toEqual(["assistant", ...choices.slice(1).map(() => undefined)]);
  expect(choices.map((choice) => choice.finish_reason)).toEqual([...choices.slice(1).map(() => null), "stop"]);
});

it("the arguments of a call are, too, under its index", () => {
  const call = { index: 3, id: "call_3", type: "function", function: { name: "f", arguments: long } };
  const calls = choicesOf(chunkParts(chunk({ tool_calls: [call] })) ?? []).map(({ delta }) => delta.tool_calls?.[0]);
  expect(calls.map((each) => each?.function.arguments).join("")).toBe(long);
  expect(calls[0]).toMatchObject({ index: 3, id: "call_3", function: { name: "f" } });
  for (const each of calls.slice(1)) expect(Object.keys(each ?? {})).toEqual(["index", "function"]);
});

it("all other chunks stay as they are", () => {
  for (const delta of [{}, { content: "short" }, { content: null }, { reasoning_details: [{ text: long }] }]) {
    expect(chunkParts(chunk(delta))).toBeUndefined();
  }
  expect(chunkParts({ choices: [] })).toBeUndefined();
  const two = chunk({ content: long });
  expect(chunkParts({ ...two, choices: [...two.choices, ...two.choices] })).toBeUndefined();
});
