import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dependsOnItself, requestKey } from "../../../src/cache/request-key.js";
import { chatNames } from "../../../src/protocols/chat/chat-request.js";
import { parseJsonRequest } from "../../../src/protocols/shared/json-request.js";
import type { DirectCall } from "../../../src/providers/direct-call.js";
import { asBuffer } from "../../../src/wire/bytes.js";
import { writeForm } from "../../../src/wire/form-writer.js";
import { atOnce, type Steps } from "../../../src/wire/slices.js";

const call: Omit<DirectCall, "body"> = {
  endpoint: "chat/completions",
  model: "small",
  stream: false,
  notice: new AbortController().signal,
  requestId: "req_1",
  account: "acct",
};
const keyOf = (json: string, more: Partial<DirectCall> = {}, server: unknown = ["https://a.test"]) =>
  requestKey({ ...call, body: Buffer.from(json), ...more }, server);
const parse = (json: string) => atOnce(parseJsonRequest(Buffer.from(json), 256, chatNames));

/** How often others have their turn. */
function turnsIn(steps: Steps<unknown>): number {
  let turns = 0;
  while (!steps.next().done) turns++;
  return turns;
}

const names = fc.constantFrom("model", "seed", "stop", "n", "top_p", "tools", "x", "y1", "zz");
/** A member named `__proto__` is refused wherever it stands. */
const values = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__"));
const members = fc.uniqueArray(fc.tuple(names, values), { selector: ([name]) => name, maxLength: 8 });
const written = (all: readonly (readonly [string, unknown])[]) =>
  `{${all.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;

describe("the key of a request", () => {
  it("is equal for the same members in any order, whatever is ignored, and for nothing else", () => {
    fc.assert(
      fc.property(members, members, fc.nat(), fc.string(), (one, other, turn, user) => {
        const key = keyOf(written(one));
        const turned = [...one.slice(turn % (one.length + 1)), ...one.slice(0, turn % (one.length + 1))];
        expect(keyOf(written([["user", user], ...turned, ["metadata", { user }]]))).toBe(key);
        const sorted = (all: typeof one) => written(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
        expect(keyOf(written(other)) === key).toBe(sorted(other) === sorted(one));
      }),
      { numRuns: 300 },
    );
  });

  it("is another one for each thing that a response depends on", () => {
    const changes: Partial<DirectCall>[] = [
      { account: "acct2" },
      { endpoint: "completions" },
      { model: "large" },
      { stream: true },
      { outputCap: 5 },
      { headers: { "anthropic-version": "1" } },
      { headers: { "anthropic-beta": "1" } },
    ];
    const json = '{"model":"m"}';
    const keys = [keyOf(json), keyOf(json, {}, ["https://b.test"]), ...changes.map((change) => keyOf(json, change))];
    expect(new Set(keys).size).toBe(changes.length + 2);
    for (const key of keys) expect(key).toMatch(/^[\w-]{43}$/);
    const traced = { traceparent: "00-1-2-01", "x-b3-traceid": "1", "content-type": "application/json" };
    expect(keyOf(json, { headers: traced, keyId: "key_1", requestId: "req_2", tags: { a: "b" } })).toBe(keys[0]);
  });

  it("takes a form for its fields and files, however they came", () => {
    const form = (file: object = {}, bytes = "sound", boundary = "one", first = false) => {
      const field = { name: "prompt", filename: undefined, type: undefined, payload: [Buffer.from("Hi")] };
      const sound = { name: "file", filename: "a.wav", type: "audio/wav", payload: [Buffer.from(bytes)], ...file };
      const body = writeForm(first ? [sound, field] : [field, sound], boundary);
      return keyOf("", { body, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } });
    };
    const whole = form();
    expect(whole).toMatch(/^[\w-]{43}$/);
    expect(form({}, "sound", "two")).toBe(whole);
    expect(form({}, "sound", "two", true)).toBe(whole);
    expect(form({ filename: "b.wav" })).toBe(whole);
    for (const other of [{ filename: "a.mp3" }, { filename: "a" }, { name: "mask" }, { type: "audio/mp3" }]) {
      expect(form(other)).not.toBe(whole);
    }
    expect(form({}, "sounds")).not.toBe(whole);
    expect(form({}, "")).not.toBe(whole);
  });

  it("is none where the body cannot be taken apart", () => {
    expect(keyOf("no JSON")).toBeUndefined();
    expect(keyOf("--x", { headers: { "content-type": "multipart/form-data; boundary=one" } })).toBeUndefined();
  });

  it("lets others have their turn while a long request is read", async () => {
    const content = 'a\\"b'.repeat(2_000_000);
    const json = `{"messages":[{"role":"user","content":"${content}"}],"model":"m"}`;
    const slices = Math.floor(json.length / (256 * 1024));
    expect(slices).toBeGreaterThan(20);
    expect(turnsIn(dependsOnItself(parse(json), undefined))).toBeGreaterThanOrEqual(slices - 1);
    const key = keyOf(json);
    expect(key).toBeInstanceOf(Promise);
    expect(await key).toMatch(/^[\w-]{43}$/);
  });

  it("finds what stands elsewhere on the border of two slices, too", () => {
    const link = '"https://a.test"';
    for (let before = 256 * 1024 - 20; before < 256 * 1024 + 2; before++) {
      const head = '{"model":"m","x":"';
      const json = `${head}${"a".repeat(before - head.length - 6)}","u":${link}}`;
      expect(asBuffer(Buffer.from(json)).indexOf(link)).toBe(before);
      expect(atOnce(dependsOnItself(parse(json), undefined))).toBe(false);
    }
  });
});
