import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../src/protocols/chat/chat-request.js";
import { refuseMissing, toUpstreamBody } from "../../../src/protocols/chat/encode-chat-request.js";
import { parseEmbeddingRequest } from "../../../src/protocols/embeddings/embedding-request.js";
import { atOnce, type SlicedWork, sliceBytes, slicesOf, stepInTurns } from "../../../src/wire/slices.js";

const pad = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length));

/** Bodies whose slices end in the midst of whatever there is. */
const chatBodies: [string, string][] = [
  ["a long text", `{"role":"user","content":"${pad("ab\\n\u00e9 ", 1_000_000)}"}`],
  ["escapes", `{"role":"user","content":"${pad('\\"\\u0041', 1_000_000)}"}`],
  ["many messages", pad('{"role":"developer","name":"x","content":"hi"},', 700_000).slice(0, -1)],
  [
    "many parts",
    `{"role":"user","content":[${pad('{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"x"}},', 450_000).slice(0, -1)}]}`,
  ],
  ["white space", `{"role":"user"${" ".repeat(600_000)}, "content" :  "x" }`],
  ["numbers", `{"role":"user","x":[${pad("1,-2.5e3,", 600_000)}0]}`],
];

describe("a body that is read in slices", () => {
  it.each(chatBodies)("comes to the same: %s", async (_name, message) => {
    const body = Buffer.from(`{"model":"m","messages":[${message}],"tail":[true,{}]}`);
    expect(body.length).toBeGreaterThan(sliceBytes);
    const whole = atOnce(parseChatRequest(body, 9));
    const sliced = await stepInTurns(parseChatRequest(body, 9));
    // Byte by byte only once: what compares values takes seconds for a mebibyte.
    expect(Buffer.compare(sliced.body, whole.body)).toBe(0);
    expect({ ...sliced, outline: undefined, body: 0 }).toEqual({ ...whole, outline: undefined, body: 0 });
    const missing = { action: "drop", tools: true, reasoning: true, vision: true } as const;
    const dialect = { developerRole: "system", droppedFromMessages: ["name"] } as const;
    const target = { model: "m", maxOutputTokens: undefined, dialect, missing };
    expect(Buffer.compare(toUpstreamBody(sliced, target), toUpstreamBody(whole, target))).toBe(0);
    const refuse = { ...missing, action: "refuse" } as const;
    if (message.includes("image_url")) expect(() => refuseMissing(sliced, "m", refuse)).toThrow("content[1]");
    else refuseMissing(sliced, "m", refuse);
  });

  it.each([
    ["a member that is no JSON", '"x":[1,2 3]', "invalid_json", null],
    ["a number too large", '"x":[1,{"y":[1e999]}]', "invalid_value", "x[1].y[0]"],
    ["a name of the prototype", '"x":{"__proto__":1}', "invalid_value", "x"],
  ])("is refused for the same: %s", async (_name, member, code, param) => {
    const body = Buffer.from(`{"model":"m","messages":[${chatBodies[2]?.[1]}],${member}}`);
    await expect(stepInTurns(parseChatRequest(body, 9))).rejects.toMatchObject({ status: 400, code, param });
    expect(() => atOnce(parseChatRequest(body, 9))).toThrow();
  });

  it.each([
    ["tokens", `[${pad("[1,2,300000],", 600_000 / 300).slice(0, -1)},[${pad("17,", 900_000)}1]]`],
    ["texts", `[${pad('"a text \\n",', 20_000).slice(0, -1)},"${pad("x ", 900_000)}"]`],
    ["one text", `"${pad("\\u0041", 900_000)}"`],
  ])("comes to the same for embeddings: %s", async (_name, input) => {
    const body = Buffer.from(`{"model":"m","input":${input}}`);
    expect(body.length).toBeGreaterThan(sliceBytes);
    const whole = atOnce(parseEmbeddingRequest(body, 9));
    const sliced = await stepInTurns(parseEmbeddingRequest(body, 9));
    expect(Buffer.compare(sliced.body, whole.body)).toBe(0);
    // Of long texts parts are counted, which are taken at random: two counts of one text differ by a little.
    const uncounted = { body: 0, inputs: 0 };
    expect({ ...sliced, ...uncounted }).toEqual({ ...whole, ...uncounted });
    const places = ({ inputs }: typeof whole) => inputs.map(({ start, end }) => [start, end]);
    expect(places(sliced)).toEqual(places(whole));
    const sum = ({ inputs }: typeof whole) => inputs.reduce((all, { tokens }) => all + tokens, 0);
    expect(Math.abs(sum(sliced) / sum(whole) - 1)).toBeLessThan(0.1);
  });
});

describe("stepInTurns", () => {
  /** Notes the turn of the event loop in which each slice is done. */
  class Work implements SlicedWork {
    position = 0;
    readonly #end: number;
    readonly #done: () => void;

    constructor(slices: number, done: () => void) {
      this.#end = slices * sliceBytes;
      this.#done = done;
    }

    run(stop: number): boolean {
      this.#done();
      this.position = stop;
      return stop >= this.#end;
    }
  }

  it("does one slice in a turn of the event loop, however much work there is", async () => {
    const slices: number[] = [];
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const works = Array.from({ length: 10 }, () => stepInTurns(slicesOf(new Work(5, () => slices.push(turn)))));
    await Promise.all(works);
    isOver = true;
    expect(slices).toHaveLength(50);
    expect(new Set(slices).size).toBe(50);
  });

  it("goes on when a piece of work fails", async () => {
    const failing = stepInTurns(
      slicesOf(
        new Work(3, () => {
          throw new Error("no");
        }),
      ),
    );
    const other = stepInTurns(slicesOf(new Work(3, () => {})));
    await expect(failing).rejects.toThrow("no");
    await other;
  });
});
