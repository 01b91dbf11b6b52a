import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { writeOwnSignature } from "../../../../src/protocols/messages/own-thinking.js";
import { toUpstreamMessagesBody } from "../../../../src/protocols/messages/to-upstream-messages-body.js";
import { wholeText } from "../../../../src/wire/edited-bytes.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { thoughtsOf } from "../../../support/own-seal.js";

const target = { model: "claude-sonnet-4-5", maxOutputTokens: 8000 };

function encoded(body: unknown, to: Parameters<typeof toUpstreamMessagesBody>[1] = target): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return Buffer.from(
    wholeText(toUpstreamMessagesBody(atOnce(parseMessagesRequest(Buffer.from(text), 64)), to)),
  ).toString();
}

const thinking = { type: "thinking", thinking: "hm", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=" };

describe("the body for an upstream that speaks Messages", () => {
  it("is the client's, byte for byte, but for the model", () => {
    const text =
      '{ "max_tokens" : 1e3,\n"system":[{"type":"text","text":"h\\u00e9","cache_control":{"type":"ephemeral","ttl":"1h"}}],' +
      '"model":"acme/large" ,"messages":[{"role":"user","content":"x"},{"content":[' +
      `${JSON.stringify(thinking)},{"type":"tool_use","id":"toolu_1","name":"f","input":{"2":12345678901234567890,"1":1.0}}],"role":"assistant"}],` +
      '"tools":[{"name":"f","input_schema":{"$schema":"x","type":"object"}}],"some_beta":{"z":1,"a":2}}';
    expect(encoded(text)).toBe(text.replace('"acme/large"', '"claude-sonnet-4-5"'));
  });

  it("is so whatever else the request says", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value).replaceAll("__proto__", "proto"));
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{3,12}$/), {
      selector: (name) => name.replace(/[^a-z]/g, ""),
      maxLength: 4,
    });
    const reserved = new Set([
      "model",
      "messages",
      "system",
      "stream",
      "tools",
      "thinking",
      "input",
      "speed",
      "container",
    ]);
    fc.assert(
      fc.property(names, fc.array(json, { minLength: 4, maxLength: 4 }), fc.nat(3), (all, values, place) => {
        const own = all.filter((name) => !reserved.has(name)).map((name, at) => `"${name}": ${values[at]}`);
        const members = [
          ...own.slice(0, place),
          '"model":"acme/x","max_tokens":9',
          '"messages":[{"role":"user","content":"x"}]',
          ...own.slice(place),
        ];
        const text = `{${members.join(" ,\n")}}`;
        const sent = encoded(text, { model: "claude-sonnet-4-5", maxOutputTokens: undefined });
        expect(sent).toBe(text.replace('"acme/x"', '"claude-sonnet-4-5"'));
      }),
    );
  });

  it("is cut down to what the model can do, with a budget that fits", () => {
    const request = { model: "m", max_tokens: 64_000, messages: [{ role: "user", content: "x" }] };
    expect(JSON.parse(encoded({ ...request, thinking: { type: "enabled", budget_tokens: 63_999 } }))).toEqual({
      ...request,
      model: target.model,
      max_tokens: 8000,
      thinking: { type: "enabled", budget_tokens: 7999 },
    });
    expect(JSON.parse(encoded({ ...request, thinking: { type: "enabled", budget_tokens: 2000 } }))).toMatchObject({
      thinking: { budget_tokens: 2000 },
    });
    expect(JSON.parse(encoded({ model: "m", messages: request.messages })).max_tokens).toBe(8000);
    const uncapped = encoded({ model: "m", messages: request.messages }, { model: "x", maxOutputTokens: undefined });
    expect(JSON.parse(uncapped)).toEqual({ model: "x", max_tokens: 4096, messages: request.messages });
  });

  it("leaves out what must not go", () => {
    const body = {
      model: "m",
      max_tokens: 5,
      messages: [{ role: "user", content: "x" }],
      speed: "fast",
      service_tier: "auto",
    };
    expect(JSON.parse(encoded(body, { ...target, dropped: ["speed", "service_tier"] }))).toEqual({
      model: target.model,
      max_tokens: 5,
      messages: body.messages,
    });
  });

  it("asks no model to think that cannot", () => {
    const body = { model: "m", max_tokens: 64_000, messages: [{ role: "user", content: "x" }] };
    const asked = {
      ...body,
      thinking: { type: "enabled", budget_tokens: 63_999 },
      output_config: { effort: "high", format: { a: 1 } },
    };
    const expected = { ...body, model: target.model, max_tokens: 8000 };
    expect(JSON.parse(encoded(asked, { ...target, reasoning: false }))).toEqual({
      ...expected,
      output_config: { format: { a: 1 } },
    });
    expect(
      JSON.parse(encoded({ ...asked, output_config: { effort: "high" } }, { ...target, reasoning: false })),
    ).toEqual(expected);
  });
});

describe("thinking that no Anthropic model has signed", () => {
  const own = { type: "thinking", thinking: "mine", signature: writeOwnSignature(thoughtsOf("a"), {}) };
  const text = { type: "text", text: "so" };
  const sent = (...content: unknown[]) =>
    JSON.parse(
      encoded({
        model: "m",
        max_tokens: 5,
        messages: [
          { role: "user", content: "x" },
          { role: "assistant", content },
          { role: "user", content: "y" },
        ],
      }),
    ).messages;

  it("is left out, and nothing else", () => {
    expect(sent(own, text)[1]).toEqual({ role: "assistant", content: [text] });
    for (const signature of ["", null, undefined]) {
      expect(sent(own, { ...own, signature }, text)[1].content).toEqual([text]);
    }
    expect(sent(thinking, own, text)[1].content).toEqual([thinking, text]);
    expect(sent(thinking, text)[1].content).toEqual([thinking, text]);
    expect(sent({ type: "redacted_thinking", data: "ig1.x" }, text)[1].content).toHaveLength(2);
  });

  it("takes a message with it that is nothing else", () => {
    expect(sent(own)).toEqual([
      { role: "user", content: "x" },
      { role: "user", content: "y" },
    ]);
  });

  it("leaves text alone that only looks like it", () => {
    const quoted = { type: "text", text: '"signature":"ig1.x"' };
    expect(sent(quoted)[1].content).toEqual([quoted]);
    const input = { type: "tool_use", id: "t", name: "f", input: { type: "thinking", signature: "" } };
    expect(sent(input)[1].content).toEqual([input]);
  });
});
