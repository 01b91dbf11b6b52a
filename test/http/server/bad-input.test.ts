import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
beforeEach(async () => {
  test = await startTestGateway({ maxBodyBytes: 4_000_000 });
});
afterEach(() => test.close());

const messages = '"messages":[{"role":"user","content":"hi"}]';
const valid = `"model":"acme/small",${messages}`;

async function refused(
  request: Request,
): Promise<{ status: number; code: string; param: string | null; headers: Headers }> {
  const response = await test.gateway.handler(request);
  const { error } = (await response.json()) as { error: { code: string; param: string | null; type: string } };
  expect(error.type).toBe("invalid_request_error");
  expect(test.upstream.requests).toHaveLength(0);
  expect(test.events.at(-1)?.chargedMicro).toBe(0);
  return { status: response.status, code: error.code, param: error.param, headers: response.headers };
}

describe("a body that is refused", () => {
  it.each([
    ["nothing", "", "invalid_json", null],
    ["no JSON", "{", "invalid_json", null],
    ["text behind", `{${valid}} x`, "invalid_json", null],
    ["an array", "[]", "invalid_json", null],
    ["a string", '"x"', "invalid_json", null],
    ["null", "null", "invalid_json", null],
    ["no model", `{${messages}}`, "missing_required_parameter", "model"],
    ["a null model", `{"model":null,${messages}}`, "missing_required_parameter", "model"],
    ["a number as the model", `{"model":1,${messages}}`, "invalid_type", "model"],
    ["an empty model", `{"model":"",${messages}}`, "invalid_value", "model"],
    ["no messages", '{"model":"acme/small"}', "missing_required_parameter", "messages"],
    ["messages of text", '{"model":"acme/small","messages":"hi"}', "invalid_type", "messages"],
    ["no message", '{"model":"acme/small","messages":[]}', "empty_array", "messages"],
    ["a message of text", '{"model":"acme/small","messages":["hi"]}', "invalid_type", "messages[0]"],
    ["a null message", '{"model":"acme/small","messages":[{"role":"user"},null]}', "invalid_type", "messages[1]"],
    [
      "no role",
      '{"model":"acme/small","messages":[{"content":"role"}]}',
      "missing_required_parameter",
      "messages[0].role",
    ],
    ["a number as the role", '{"model":"acme/small","messages":[{"role":1}]}', "invalid_type", "messages[0].role"],
    ["stream of text", `{${valid},"stream":"true"}`, "invalid_type", "stream"],
    ["stream_options of text", `{${valid},"stream_options":"x"}`, "invalid_type", "stream_options"],
    [
      "include_usage of text",
      `{${valid},"stream_options":{"include_usage":"yes"}}`,
      "invalid_type",
      "stream_options.include_usage",
    ],
    ["max_tokens of zero", `{${valid},"max_tokens":0}`, "invalid_value", "max_tokens"],
    ["max_tokens below zero", `{${valid},"max_tokens":-5}`, "invalid_value", "max_tokens"],
    ["max_tokens of text", `{${valid},"max_tokens":"5"}`, "invalid_type", "max_tokens"],
    ["half a token", `{${valid},"max_completion_tokens":1.5}`, "invalid_type", "max_completion_tokens"],
    ["n of zero", `{${valid},"n":0}`, "invalid_value", "n"],
    ["n of a million", `{${valid},"n":1000000}`, "invalid_value", "n"],
    ["a number too large", `{${valid},"temperature":1e400}`, "invalid_value", "temperature"],
    [
      "a deep number too large",
      `{"model":"acme/small","messages":[{"role":"user","x":[0,{"y":-1e999}]}]}`,
      "invalid_value",
      "messages[0].x[1].y",
    ],
    ["NaN", `{${valid},"temperature":NaN}`, "invalid_json", null],
    ["a duplicate", `{${valid},"model":"acme/large"}`, "invalid_json", "model"],
    ["an escaped name", `{${valid},"m\\u006fdel":"acme/large"}`, "invalid_json", null],
    ["__proto__", `{${valid},"__proto__":{"model":"acme/large"}}`, "invalid_value", null],
    ["a deep __proto__", `{${valid},"tools":[{"__proto__":{}}]}`, "invalid_value", "tools[0]"],
  ])("for %s", async (_name, body, code, param) => {
    expect(await refused(chatRequest(body))).toMatchObject({ status: 400, code, param });
  });

  it("for its depth", async () => {
    const deep = `{${valid},"x":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    expect(await refused(chatRequest(deep))).toMatchObject({
      status: 400,
      code: "invalid_value",
      param: expect.stringMatching(/^x\[0\]\[0\]/),
    });
  });

  it("for bytes that are not UTF-8", async () => {
    const body = Buffer.from(`{${valid},"x":"\u00ff"}`, "latin1");
    expect(await refused(chatRequest(body))).toMatchObject({ status: 400, code: "invalid_json" });
  });

  it("for its size, declared or not", async () => {
    const large = `{${valid},"x":"${"y".repeat(4_000_000)}"}`;
    expect(await refused(chatRequest(large))).toMatchObject({ status: 413, code: "request_too_large" });
  });

  it.each([
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["application/jsonx", 415],
    ["application/json; charset=UTF-8", 200],
    ["application/vnd.api+json", 200],
    ["APPLICATION/JSON", 200],
    ["", 200],
  ])("or not, for the content type %j", async (type, status) => {
    const request = chatRequest(`{${valid}}`);
    if (type === "") request.headers.delete("content-type");
    else request.headers.set("content-type", type);
    expect((await test.gateway.handler(request)).status).toBe(status);
  });

  it.each(["gzip", "br", "zstd", "identity, gzip"])("for the content encoding %s", async (encoding) => {
    const request = chatRequest(`{${valid}}`);
    request.headers.set("content-encoding", encoding);
    const { status, code, headers } = await refused(request);
    expect({ status, code, accept: headers.get("accept-encoding") }).toEqual({
      status: 415,
      code: "unsupported_content_encoding",
      accept: "identity",
    });
  });
});

describe("a body that is taken", () => {
  it.each([
    ["a byte order mark", `\ufeff{${valid}}`],
    ["nulls", `{${valid},"stream":null,"max_tokens":null,"n":null,"stream_options":null,"stop":null}`],
    ["white space", `  \n{ ${valid} }\r\n`],
    ["unknown members", `{${valid},"top_k":5,"logit_bias":{"50256":-100},"metadata":{}}`],
    ["a lone surrogate", `{"model":"acme/small","messages":[{"role":"user","content":"\\ud800"}]}`],
    ["a content of null", `{"model":"acme/small","messages":[{"role":"assistant","content":null,"tool_calls":[]}]}`],
  ])("has %s", async (_name, body) => {
    expect((await test.gateway.handler(chatRequest(body))).status).toBe(200);
  });
});
