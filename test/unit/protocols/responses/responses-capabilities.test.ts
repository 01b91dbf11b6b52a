import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { withoutMissingVision } from "../../../../src/protocols/responses/responses-capabilities.js";
import { parseResponsesRequest } from "../../../../src/protocols/responses/responses-request.js";
import { atOnce } from "../../../../src/wire/slices.js";

const missing = { action: "drop", tools: false, reasoning: false, vision: true } as const;
const image = { type: "input_image", image_url: "https://x.test/a.png" };
const note = { type: "input_text", text: "[image omitted]" };

const request = (input: unknown) =>
  atOnce(parseResponsesRequest(Buffer.from(JSON.stringify({ model: "m", input })), 64));

describe("a response of a model that sees no images", () => {
  it("is asked for with notes in their place", () => {
    const text = { type: "input_text", text: "What is it?" };
    const input = [
      { role: "user", content: [text, image] },
      { type: "image_generation_call", id: "ig_1", status: "completed", result: "aGk=" },
      { type: "function_call_output", call_id: "a", output: [image] },
    ];
    const { body } = withoutMissingVision(request(input), missing);
    expect(JSON.parse(Buffer.from(body).toString())).toEqual({
      model: "m",
      input: [
        { role: "user", content: [text, note] },
        { role: "assistant", content: "[image omitted]" },
        { type: "function_call_output", call_id: "a", output: [note] },
      ],
    });
  });

  it("is asked for as it was where there are none, or they may pass", () => {
    const plain = request("What is it?");
    expect(withoutMissingVision(plain, missing)).toBe(plain);
    const asked = request([{ role: "user", content: [image] }]);
    expect(withoutMissingVision(asked, { ...missing, vision: false })).toBe(asked);
    expect(withoutMissingVision(asked, { ...missing, action: "refuse" })).toBe(asked);
  });
});
