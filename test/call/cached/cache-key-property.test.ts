import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cacheKeySteps, type KeyParts } from "../../../src/cache/cache-key.js";
import { parseJsonRequest } from "../../../src/model-api/request/json-request.js";
import { chatNames } from "../../../src/openai/chat/chat-request.js";
import { dependsOnItself, plainCache } from "../../../src/operations/cache-terms.js";
import { asBuffer } from "../../../src/wire/as-buffer.js";
import { atOnce, type Steps } from "../../../src/wire/slices.js";

const parts: KeyParts = {
  account: "acct",
  operation: "chat/completions",
  model: ["acme/small", undefined],
  definition: 1,
  delivery: "whole",
  addedCap: undefined,
  headers: [],
  guarded: undefined,
};

const parse = (json: string | Uint8Array) =>
  parseJsonRequest(typeof json === "string" ? Buffer.from(json) : json, 256, chatNames);
const keyOf = (json: string, more: Partial<KeyParts> = {}) =>
  atOnce(cacheKeySteps({ ...parts, ...more }, parse(json), plainCache.ignored));

/** How often others have their turn. */
function turnsIn(steps: Steps<unknown>): number {
  let turns = 0;
  while (!steps.next().done) turns++;
  return turns;
}

const names = fc.constantFrom("model", "seed", "stop", "n", "top_p", "tools", "x", "y1", "zz");
/** A member named `__proto__` is refused wherever it stands. */
const values = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__"));
const members = fc.uniqueArray(fc.tuple(names, values), {
  selector: ([name]) => name,
  maxLength: 8,
});
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
    const json = '{"model":"m"}';
    const changes: Partial<KeyParts>[] = [
      { account: "acct2" },
      { operation: "completions" },
      { model: ["acme/small", "fast"] },
      { model: ["acme/large", undefined] },
      { definition: 2 },
      { definition: "1" },
      { delivery: "events" },
      { delivery: "bytes" },
      { addedCap: 5 },
      { headers: ["a"] },
      { headers: [undefined, "a"] },
      { guarded: [] },
      { guarded: [["words"], "key", "key_1", "pro", []] },
    ];
    const keys = [json, ...changes].map((change) => (typeof change === "string" ? keyOf(json) : keyOf(json, change)));
    expect(new Set(keys).size).toBe(changes.length + 1);
    for (const key of keys) expect(key).toMatch(/^[\w-]{43}$/);
  });

  it("takes a file for what is in it, however it came", () => {
    const file = (pieces: Buffer[], more: object = {}) => {
      const content = { pieces, length: Buffer.concat(pieces).length };
      const files = [{ name: "file", filename: "a.wav", type: "audio/wav", content, ...more }];
      return atOnce(cacheKeySteps(parts, { ...parse('{"model":"m"}'), files }, plainCache.ignored));
    };
    const whole = file([Buffer.from("sound")]);
    expect(file([Buffer.from("so"), Buffer.from("und")])).toBe(whole);
    expect(file([Buffer.from("sound")], { filename: "b.wav" })).toBe(whole);
    for (const other of [{ filename: "a.mp3" }, { filename: "a" }, { name: "mask" }, { type: undefined }]) {
      expect(file([Buffer.from("sound")], other)).not.toBe(whole);
    }
    expect(file([Buffer.from("sounds")])).not.toBe(whole);
    expect(file([])).not.toBe(whole);
  });

  it("lets others have their turn while a long request is read", () => {
    const content = 'a\\"b'.repeat(2_000_000);
    const request = parse(Buffer.from(`{"messages":[{"role":"user","content":"${content}"}],"model":"m"}`));
    const slices = Math.floor(request.body.length / (256 * 1024));
    expect(slices).toBeGreaterThan(20);
    const { ignored } = plainCache;
    expect(turnsIn(dependsOnItself({ request, table: undefined, ignored }))).toBeGreaterThanOrEqual(slices - 1);
    expect(turnsIn(cacheKeySteps(parts, request, ignored))).toBeGreaterThanOrEqual(slices - 1);
  });

  it("finds what stands elsewhere on the border of two slices, too", () => {
    const link = '"https://a.test"';
    for (let before = 256 * 1024 - 20; before < 256 * 1024 + 2; before++) {
      const head = '{"model":"m","x":"';
      const json = `${head}${"a".repeat(before - head.length - 6)}","u":${link}}`;
      expect(asBuffer(Buffer.from(json)).indexOf(link)).toBe(before);
      const request = parse(json);
      expect(atOnce(dependsOnItself({ request, table: undefined, ignored: new Set() }))).toBe(false);
    }
  });
});
