import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeResponsesRequest,
  type NativeTarget,
} from "../../../../../src/protocols/responses/encode-responses-request.js";
import { ownItemId, writeReasoning } from "../../../../../src/protocols/responses/own-items.js";
import { hostedToolsToDrop } from "../../../../../src/protocols/responses/responses-capabilities.js";
import { parseResponsesRequest } from "../../../../../src/protocols/responses/responses-request.js";
import { wholeText } from "../../../../../src/wire/edited-bytes.js";
import { atOnce } from "../../../../../src/wire/slices.js";
import { thoughtsOf } from "../../../../support/own-seal.js";

const parse = (text: string) => atOnce(parseResponsesRequest(Buffer.from(text), 64));
const target = { model: "up", maxOutputTokens: undefined };

function sent(text: string, members: Partial<NativeTarget> = {}): string {
  return Buffer.from(wholeText(encodeResponsesRequest(parse(text), { ...target, ...members }))).toString();
}

const requestOf = (members: object) => JSON.stringify({ model: "m", input: "hi", ...members });
const sentOf = (members: object, others: Partial<NativeTarget> = {}) => JSON.parse(sent(requestOf(members), others));

describe("a request for a server that speaks the API", () => {
  it("has another model, stores nothing, and is the same byte for byte otherwise", () => {
    expect(sent('{ "model": "m", "x" : 1.0,"big":12345678901234567890, "store" : true, "input":"h\\u00e9" }')).toBe(
      '{"model": "up", "x" : 1.0,"big":12345678901234567890, "store" : false, "input":"h\\u00e9"}',
    );
    expect(sent('{"model":"m","input":"hi"}')).toBe('{"store":false,"model":"up","input":"hi"}');
  });

  it("is the same in all members but these, whatever they are", () => {
    // A name that requests may not have.
    const value = fc.jsonValue({ maxDepth: 2 }).filter((each) => !JSON.stringify(each).includes("__proto__"));
    const members = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,8}$/), value, { maxKeys: 6 });
    fc.assert(
      fc.property(members, (extra) => {
        const written = sentOf(extra);
        expect(JSON.stringify(written)).toBe(JSON.stringify({ store: false, model: "up", input: "hi", ...extra }));
      }),
    );
  });

  it("has its cap cut down to what the model can do, and no other", () => {
    expect(sentOf({ max_output_tokens: 100 }, { maxOutputTokens: 64 }).max_output_tokens).toBe(64);
    expect(sentOf({ max_output_tokens: 50 }, { maxOutputTokens: 64 }).max_output_tokens).toBe(50);
    expect(sentOf({}, { maxOutputTokens: 64 })).not.toHaveProperty("max_output_tokens");
  });

  it("lacks what the server must not get", () => {
    expect(sentOf({ service_tier: "priority", metadata: {} }, { dropped: ["service_tier", "store"] })).toEqual({
      model: "up",
      input: "hi",
      store: false,
      metadata: {},
    });
  });

  it("lacks thoughts that only the gateway can read, and keeps the server's", () => {
    const own = {
      type: "reasoning",
      id: "rs_x",
      summary: [],
      encrypted_content: writeReasoning(thoughtsOf("a/b"), {}),
    };
    const ownPlain = { type: "reasoning", id: ownItemId("rs", "resp_1", 0), summary: [] };
    const native = { type: "reasoning", id: "rs_y", summary: [], encrypted_content: "gAAAA" };
    const message = { role: "user", content: "q" };
    expect(sentOf({ input: [message, own, native, ownPlain] }).input).toEqual([message, native]);
  });

  it("lacks thoughts that a server keeps which keeps nothing, but not those that can be read", () => {
    const thought = { type: "reasoning", id: "rs_y", summary: [{ type: "summary_text", text: "Hm" }] };
    const shown = { ...thought, content: [{ type: "reasoning_text", text: "Hm." }] };
    const sealed = { ...thought, encrypted_content: "gAAAA" };
    const message = { role: "user", content: "q" };
    const gone = [thought, { ...thought, encrypted_content: null, content: [] }, { ...thought, encrypted_content: "" }];
    expect(sentOf({ input: [message, ...gone, shown, sealed] }).input).toEqual([message, shown, sealed]);
  });

  it("lacks ids that the gateway gave: servers refuse such as are none of theirs", () => {
    const ids = [ownItemId("item", "resp_1", 0), ownItemId("msg", "resp_1", 1), ownItemId("fc", "resp_1", 2)];
    const input = ids.map((id) => `{"role":"user", "id":"${id}","content": "q\\u00e9", "n":1.0}`).join(" , ");
    const item = '{"role":"user","content": "q\\u00e9", "n":1.0}';
    const theirs = '{"role":"user", "id":"msg_0a","content":""}';
    expect(sent(`{"model":"m","input":[${input}, ${theirs}]}`)).toBe(
      `{"store":false,"model":"up","input":[${item},${item},${item},${theirs}]}`,
    );
    const reasoning = { type: "reasoning", id: ids[0], summary: [], encrypted_content: "gAAAA" };
    expect(sentOf({ input: [reasoning] }).input).toEqual([{ ...reasoning, id: undefined }]);
  });

  const get = { type: "function", name: "get" };
  const hosted = (tools: object[], others: object = {}) => {
    const request = parse(requestOf({ tools, ...others }));
    const withoutTools = hostedToolsToDrop(request);
    return JSON.parse(Buffer.from(wholeText(encodeResponsesRequest(request, { ...target, withoutTools }))).toString());
  };

  it("lacks searches of the web, as clients list them in every request", () => {
    const custom = { type: "custom", name: "apply_patch", format: { type: "text" } };
    const space = { type: "namespace", name: "n", tools: [get] };
    const search = { type: "tool_search", execution: "client" };
    expect(hosted([get, { type: "web_search" }, custom, space, search]).tools).toEqual([get, custom, space, search]);
    expect(hosted([get, { type: "web_search" }], { tool_choice: { type: "web_search" } }).tool_choice).toBe("auto");
    const choice = { type: "function", name: "get" };
    expect(hosted([get, { type: "web_search" }], { tool_choice: choice }).tool_choice).toEqual(choice);
    expect(hosted([{ type: "web_search" }], { tool_choice: "auto", parallel_tool_calls: true })).toEqual({
      model: "up",
      input: "hi",
      store: false,
    });
  });

  it.each<[object, string]>([
    [{ tools: [get, { type: "code_interpreter" }] }, "tools[1].type"],
    [{ tools: [{ type: "mcp" }] }, "tools[0].type"],
    [{ tools: [{ name: "x" }] }, "tools[0].type"],
    [{ tools: [{ type: "tool_search" }] }, "tools[0].type"],
    [{ tools: [{ type: "namespace", name: "n", tools: [{ type: "web_search" }] }] }, "tools[0].tools[0].type"],
    [{ input: [{ type: "additional_tools", tools: [{ type: "mcp" }] }] }, "input[0].tools[0].type"],
  ])("is refused with tools that the server would run: %j", (members, param) => {
    const request = parse(requestOf(members));
    expect(() => hostedToolsToDrop(request)).toThrow(
      expect.objectContaining({ status: 400, code: "unsupported_tool", param }),
    );
  });
});
