import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import {
  messagesAskToReason,
  refuseMissingOfMessages,
  withoutMissing,
} from "../../../../src/protocols/messages/messages-capabilities.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { atOnce } from "../../../../src/wire/slices.js";

const request = (more: object, content: unknown = "x") =>
  atOnce(
    parseMessagesRequest(
      Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }], ...more })),
      64,
    ),
  );

const image = { type: "image", source: { type: "url", url: "https://x.test/a.png" } };
const missing = { action: "refuse", tools: true, reasoning: true, vision: true } as const;

describe("what a model lacks", () => {
  const refusal = (more: object, content?: unknown, own = {}) => {
    try {
      refuseMissingOfMessages(request(more, content), "acme/small", { ...missing, ...own });
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it("is refused", () => {
    expect(refusal({ tools: [{ name: "f" }] })).toMatchObject({ status: 400, param: "tools" });
    expect(refusal({}, [{ type: "tool_result", tool_use_id: "t", content: [image] }])).toMatchObject({
      param: "messages[0].content[0]",
    });
  });

  it("is not where it is not asked for, or to be left out", () => {
    expect(refusal({ tools: [], thinking: { type: "adaptive" }, output_config: { effort: "high" } })).toBeUndefined();
    expect(refusal({ tools: [{ name: "f" }] }, [image], { tools: false, vision: false })).toBeUndefined();
    expect(refusal({ tools: [{ name: "f" }] }, [image], { action: "drop" })).toBeUndefined();
  });
});

describe("what is to be left out", () => {
  const left = (content: unknown, own = {}) => {
    const { body } = withoutMissing(
      request({ tools: [{ name: "f" }], tool_choice: { type: "auto" }, top_k: 1 }, content),
      {
        ...missing,
        action: "drop",
        ...own,
      },
    );
    return JSON.parse(Buffer.from(body).toString());
  };

  it("goes: tools, and images for a note, in results of tools, too", () => {
    const [text, note] = ["x", "[image omitted]"].map((said) => ({ type: "text", text: said }));
    const content = [text, image, { type: "tool_result", tool_use_id: "t", content: [image, text] }, image];
    expect(left(content)).toEqual({
      model: "m",
      messages: [
        { role: "user", content: [text, note, { type: "tool_result", tool_use_id: "t", content: [note, text] }, note] },
      ],
      top_k: 1,
    });
    expect(left([image], { tools: false })).toMatchObject({ tools: [{ name: "f" }], messages: [{ content: [note] }] });
  });

  it("stays where the model has it, byte for byte", () => {
    const asked = request({ tools: [] }, [image]);
    expect(withoutMissing(asked, { ...missing, action: "drop", tools: false, vision: false })).toBe(asked);
    expect(withoutMissing(asked, missing)).toBe(asked);
  });
});

describe("thinking", () => {
  it.each([
    [{}, false],
    [{ thinking: null }, false],
    [{ thinking: { type: "disabled" } }, false],
    [{ thinking: { type: "adaptive" } }, true],
    [{ thinking: { type: "enabled", budget_tokens: 2000 } }, true],
  ])("is asked for by %j: %j", (more, expected) => {
    expect(messagesAskToReason(request(more))).toBe(expected);
  });
});
