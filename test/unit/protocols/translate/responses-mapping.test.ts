import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messagesOf } from "../../../support/translate/responses-samples.js";

type Item = Record<string, unknown>;

const runs = Number(process.env["FC_RUNS"] ?? 400);

/** Each says a word that nothing else says, in the order of the items: `w0w`, `w1w` and so on. */
type Say = () => string;
type Make = (say: Say) => Item;

const input = (say: Say) => ({ type: "input_text", text: say() });
const output = (say: Say) => ({ type: "output_text", text: say(), annotations: [] });
const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" };

const spoken: Record<string, Make> = {
  "a text of a user": (say) => ({ role: "user", content: say() }),
  "texts of a user": (say) => ({ type: "message", role: "user", content: [input(say), image, input(say)] }),
  "a text of a system": (say) => ({ role: "system", content: say() }),
  "a text of a developer": (say) => ({ role: "developer", content: [input(say)] }),
  "a text of the model": (say) => ({ role: "assistant", content: say() }),
  "texts of the model": (say) => ({ type: "message", role: "assistant", content: [output(say), output(say)] }),
  "a refusal": (say) => ({ role: "assistant", content: [{ type: "refusal", refusal: say() }] }),
  "thoughts of another model": () => ({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }),
  "a placeholder": () => ({ role: "assistant", content: [] }),
  "a search of the web": () => ({ type: "web_search_call", id: "ws_1", status: "completed" }),
};

/** Kinds of calls, each with what its output is. */
const calls: Record<string, [call: (id: string, say: Say) => Item, output: (id: string, say: Say) => Item]> = {
  "of a function": [
    (id, say) => ({ type: "function_call", call_id: id, name: "get", arguments: JSON.stringify({ a: say() }) }),
    (id, say) => ({ type: "function_call_output", call_id: id, output: say() }),
  ],
  "of a function, with parts": [
    (id, say) => ({ type: "function_call", call_id: id, name: "get", namespace: "n", arguments: { a: say() } }),
    (id, say) => ({ type: "function_call_output", call_id: id, output: [input(say), image, input(say)] }),
  ],
  "of a custom tool": [
    (id, say) => ({ type: "custom_tool_call", call_id: id, name: "apply_patch", input: say() }),
    (id, say) => ({ type: "custom_tool_call_output", call_id: id, output: say() }),
  ],
  "of a shell": [
    (id, say) => ({ type: "local_shell_call", call_id: id, action: { command: [say()] } }),
    (id, say) => ({ type: "local_shell_call_output", call_id: id, output: say() }),
  ],
};

const step = fc.oneof(
  fc.constantFrom(...Object.values(spoken)).map((make) => ({ make })),
  fc.record({
    kind: fc.constantFrom(...Object.values(calls)),
    id: fc.constantFrom("a", "b", "c", "d"),
    isOutput: fc.boolean(),
  }),
);

/** The items, and how many words they say. */
function itemsOf(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) {
  let words = 0;
  const say = () => `w${words++}w`;
  const items = steps.map((each) => ("make" in each ? each.make(say) : each.kind[each.isOutput ? 1 : 0](each.id, say)));
  return { items, words: () => words };
}

const wordsIn = (value: unknown) => [...JSON.stringify(value).matchAll(/w\d+w/g)].map(([word]) => word);

describe("whatever a conversation is", () => {
  it("no word of it is lost or said twice, and each stays with its kind", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 16 }), (steps) => {
        const { items, words } = itemsOf([{ make: (say: Say) => ({ role: "user", content: say() }) }, ...steps]);
        const messages = messagesOf(items);
        expect(wordsIn(messages).toSorted()).toEqual(
          Array.from({ length: words() }, (_none, n) => `w${n}w`).toSorted(),
        );
        for (const role of ["system", "developer"]) {
          const [sent, got] = [items, messages].map((list) => list.filter((each) => each["role"] === role));
          expect(wordsIn(got)).toEqual(wordsIn(sent));
        }
        // Every call has its one output right behind the message that made it.
        for (const [place, message] of messages.entries()) {
          const made = ((message["tool_calls"] ?? []) as { id: string }[]).map(({ id }) => id);
          const behind = messages.slice(place + 1, place + 1 + made.length);
          expect(behind.map((each) => each["tool_call_id"])).toEqual(made);
          expect(new Set(made).size).toBe(made.length);
          if (message["role"] === "tool") expect(typeof message["content"]).toBe("string");
        }
        const ids = messages.flatMap((each) => ((each["tool_calls"] ?? []) as { id: string }[]).map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        expect(messages.filter(({ role }) => role === "tool")).toHaveLength(ids.length);
      }),
      { numRuns: runs },
    );
  });

  it("its words stay in their order, where each output follows its call", () => {
    // As clients send it: turns of the model, each of whose calls is answered before the next turn.
    const turn = fc.record({
      texts: fc.array(fc.constantFrom(...Object.values(spoken)), { maxLength: 3 }),
      made: fc.array(fc.constantFrom(...Object.values(calls)), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), (turns) => {
        let words = 0;
        let made = 0;
        const say = () => `w${words++}w`;
        const items = turns.flatMap(({ texts, made: kinds }) => {
          const ids = kinds.map(() => `call_${made++}`);
          return [
            ...texts.map((make) => make(say)),
            ...kinds.map(([call], index) => call(ids[index] ?? "", say)),
            ...kinds.map(([, answer], index) => answer(ids[index] ?? "", say)),
            { role: "user", content: say() },
          ];
        });
        const place = (word: string) => Number(word.slice(1, -1));
        const messages = messagesOf(items);
        expect(wordsIn(messages)).toHaveLength(words);
        // Within a message, a refusal stands behind the texts, as chat completions have it.
        const firsts = messages.flatMap((message) => {
          const places = wordsIn(message).map(place);
          return places.length === 0 ? [] : [[Math.min(...places), Math.max(...places)]];
        });
        const ordered = firsts.flat();
        expect(ordered).toEqual(ordered.toSorted((one, other) => one - other));
      }),
      { numRuns: runs },
    );
  });
});
