import { describe, expect, it } from "vitest";
import { previousResponseNotFound, responseNotFound } from "../../../../src/protocols/responses/conversation-errors.js";
import { expandInput, inputItems, referencedIds } from "../../../../src/protocols/responses/expand-input.js";
import { parseResponsesRequest } from "../../../../src/protocols/responses/responses-request.js";
import { atOnce } from "../../../../src/wire/slices.js";

const json = (value: unknown) => JSON.stringify(value);
const parse = (text: string) => atOnce(parseResponsesRequest(Buffer.from(text), 64));
const none = { earlier: [], referenced: new Map<string, string>() };
const question = { type: "message", role: "user", content: "What?" };
const answer = { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "That." }] };

describe("what a request refers to", async () => {
  it("comes in front of the input, and leaves all else byte for byte", async () => {
    const request = parse('{ "model":"m" , "previous_response_id":"resp_1","input":"And \\u00e9?","x":1.0 }');
    const expanded = await expandInput(request, { ...none, earlier: [json(question), json(answer)] }, 1e6);
    expect(Buffer.from(expanded).toString()).toBe(
      `{"model":"m","input":[${JSON.stringify(question)},${JSON.stringify(answer)},` +
        '{"type":"message","role":"user","content":"And \\u00e9?"}],"x":1.0}',
    );
    expect(atOnce(parseResponsesRequest(expanded, 64))).toMatchObject({ previousResponseId: undefined });
  });

  it("stands in its place", async () => {
    const request = parse(
      '{"model":"m","input":[{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"},{"id":"rs_9"},{"role":"user","content":"b"}]}',
    );
    expect(referencedIds(request)).toEqual(["msg_1", "rs_9"]);
    const expanded = await expandInput(request, { ...none, referenced: new Map([["msg_1", json(answer)]]) }, 1e6);
    expect(JSON.parse(Buffer.from(expanded).toString()).input).toEqual([
      { role: "user", content: "a" },
      answer,
      { role: "user", content: "b" },
    ]);
    await expect(expandInput(request, none, 1e6)).rejects.toThrow(
      expect.objectContaining({ status: 400, code: "item_not_found", param: "input[1].id" }),
    );
  });

  it("is all there is where the request has no input of its own", async () => {
    const request = parse('{"previous_response_id":"resp_1","model":"m"}');
    const expanded = await expandInput(request, { ...none, earlier: [json(question)] }, 1e6);
    expect(JSON.parse(Buffer.from(expanded).toString())).toEqual({ model: "m", input: [question] });
  });

  it("may be no larger than a body, however often one item is meant", async () => {
    const large = json({ ...answer, content: "x".repeat(1_000_000) });
    const references = new Array(16_384).fill('{"type":"item_reference","id":"msg_1"}').join(",");
    const request = parse(`{"model":"m","input":[${references}]}`);
    const before = process.memoryUsage().arrayBuffers;
    await expect(expandInput(request, { ...none, referenced: new Map([["msg_1", large]]) }, 4e6)).rejects.toThrow(
      expect.objectContaining({ status: 400, param: "input" }),
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40e6);
    const chained = parse('{"previous_response_id":"resp_1","model":"m"}');
    await expect(expandInput(chained, { ...none, earlier: new Array(5).fill(large) }, 4e6)).rejects.toThrow(
      expect.objectContaining({ status: 400, param: "previous_response_id" }),
    );
  });

  it("may not be there", async () => {
    expect(previousResponseNotFound("resp_1")).toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
    expect(responseNotFound("x".repeat(9999))).toMatchObject({ status: 404, type: "invalid_request_error" });
    expect(responseNotFound("x".repeat(9999)).message.length).toBeLessThan(300);
  });

  it("can be kept as items", async () => {
    const texts = (text: string) => inputItems(parse(text)).map((item) => Buffer.from(item).toString());
    expect(texts('{"model":"m","input":"a"}')).toEqual(['{"type":"message","role":"user","content":"a"}']);
    expect(texts('{"model":"m","input":[ {"role":"user", "content":"a"} ]}')).toEqual([
      '{"role":"user", "content":"a"}',
    ]);
  });
});
