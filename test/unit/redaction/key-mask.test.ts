import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { moderationDetails } from "../../../src/protocols/shared/openai-protocol.js";
import { mostErrorText, readErrorObject } from "../../../src/protocols/shared/upstream-failure.js";
import { ownWords } from "../../../src/redaction/judge-word.js";
import { KeyMask } from "../../../src/redaction/key-mask.js";

const key = "sk-live-Qm7vT2xLw9Zk";
const hide = (json: string, ...keys: string[]) => KeyMask.of([key, ...keys])?.hideText(json);

describe("a key that a server repeats", () => {
  it.each([
    ["an id", `{"id":"x-${key}"}`, '{"id":"x-[redacted]"}'],
    ["a name", `{"${key}" : 1}`, '{"[redacted]" : 1}'],
    ["a list", `{"content":["${key}"],"a":[ "${key}" , 1]}`, '{"content":["[redacted]"],"a":[ "[redacted]" , 1]}'],
    ["escapes", '{"id":"\\u0073k-live\\u002dQm7vT2xLw9Zk","n":"\\u00e9"}', '{"id":"[redacted]","n":"\\u00e9"}'],
    ["JSON within a string", `{"a":"{\\"b\\":\\"${key}\\"}"}`, '{"a":"{\\"b\\":\\"[redacted]\\"}"}'],
    ["words of a model", `{"content" : "\\u0041 ${key}"}`, `{"content" : "\\u0041 ${key}"}`],
    ["quotes before it", `{"a\\\\":"\\"${key}\\\\"}`, '{"a\\\\":"\\"[redacted]\\\\"}'],
    ["no JSON", `{${key}`, `{${key}`],
    ["no key", '{"a":"\\u0041"}', '{"a":"\\u0041"}'],
  ])("is taken out, with %s", (_what, json, expected) => {
    expect(hide(json)).toBe(expected);
  });

  it("is taken out as it is written in addresses, and with signs that some escape", () => {
    const signs = "ab+/c=&<d>'ef";
    for (const written of [
      "ab%2B%2Fc%3D%26%3Cd%3E'ef",
      "ab\\u002B/c=\\u0026\\u003Cd\\u003E\\u0027ef",
      "ab+\\/c=&<d>'ef",
    ]) {
      expect(hide(`{"a":"x ${written}"}`, signs)).toBe('{"a":"x [redacted]"}');
    }
  });

  it("is taken out as often as it is there", () => {
    expect(hide(`{"id":"${key.repeat(30_000)}"}`)).toBe(`{"id":"${"[redacted]".repeat(30_000)}"}`);
  });

  it("costs nothing for the strings that have none", () => {
    const others = `[${'"",'.repeat(2_000_000)}0]`;
    expect(hide(`{"a":"${key}","z":${others},"id":"${key}"}`)).toBe(
      `{"a":"[redacted]","z":${others},"id":"[redacted]"}`,
    );
  });

  it("makes no answer of one that it fills", () => {
    expect(() => hide(`[${`"${key}",`.repeat(2 ** 17 + 1)}0]`)).toThrow(/fills the answer/);
    expect(() => hide(`[${'"\\u0041",'.repeat(2 ** 17 + 1)}0]`)).toThrow(/fills the answer/);
  });
});

describe("of an error as long as an answer", () => {
  it("few words are looked at", () => {
    let looks = 0;
    const secrets = () => {
      looks++;
      return { keys: [key] };
    };
    const context = { upstreamModel: "up", model: "acme/small", secrets, request: Buffer.alloc(1) };
    const words = new Array(2000).fill("input");
    const many = Object.fromEntries(words.map((word, at) => [`${word}_${at}`, words]));
    expect(Object.keys(moderationDetails(many, context) ?? {})).toHaveLength(16);
    expect(looks).toBeLessThan(16 * 34);
  });

  it("no more text is read than can be told", () => {
    const long = "a".repeat(mostErrorText + 1);
    for (const error of [
      { message: long, type: long, code: long, param: long },
      long,
      { detail: [{ loc: [], msg: long }] },
    ]) {
      for (const said of Object.values(readErrorObject({ error })))
        expect(String(said).length).toBeLessThanOrEqual(mostErrorText);
    }
  });

  it("fewer words are looked for in a long request", () => {
    const request = Buffer.alloc(32 * 1024 * 1024, "a distinct word ");
    const own = ownWords(request);
    expect(Array.from({ length: 6 }, () => own.has("distinct word"))).toEqual([true, true, true, true, false, false]);
  });
});
