import { describe, expect, it } from "vitest";
import { toResponse } from "../../../../src/protocols/translate/responses-client-sink.js";
import { contextOf, end } from "../../../support/translate/responses-samples.js";

const completion = (message: object, finish = "stop", others: object = {}) => ({
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
  ...others,
});

describe("a whole response", () => {
  it("has the probabilities of as many tokens as the longest has", () => {
    const content = new Array(200_000).fill({ token: "a", logprob: 0 });
    const { choices } = completion({ content: "Hi" });
    const context = contextOf({ include: ["message.output_text.logprobs"] });
    const said = toResponse({ choices: choices.map((choice) => ({ ...choice, logprobs: { content } })) }, context, end);
    expect(said).toMatchObject({ output: [{ content: [{ logprobs: { length: content.length } }] }] });
  });

  it("says all that OpenAI's does, and what it was asked", () => {
    const tools = [{ type: "web_search" }, { type: "function", name: "get", parameters: null, strict: false }];
    const asked = {
      instructions: "Be brief.",
      tools,
      tool_choice: "required",
      temperature: 0.5,
      max_output_tokens: 99,
      metadata: { a: "b" },
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      client_metadata: { x: 1 },
    };
    const context = { ...contextOf(asked), previousResponseId: "resp_0", isStored: true };
    expect(toResponse(completion({ content: "Hi" }, "stop", { service_tier: "flex" }), context, end)).toEqual({
      id: "resp_1",
      object: "response",
      created_at: 1_763_000_000,
      completed_at: 1_763_000_009,
      status: "completed",
      background: false,
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      max_output_tokens: 99,
      max_tool_calls: null,
      metadata: { a: "b" },
      model: "acme/small",
      output: [
        {
          id: "msg_ig_1_0",
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: "resp_0",
      prompt_cache_key: null,
      reasoning: { effort: "low", summary: null },
      safety_identifier: null,
      service_tier: "flex",
      store: true,
      temperature: 0.5,
      text: { format: { type: "text" }, verbosity: "low" },
      tool_choice: "required",
      tools,
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
      usage: {
        input_tokens: 30,
        input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 50,
      },
      user: null,
    });
  });

  it("is made of the first of several choices, whatever their order", () => {
    const other = { index: 1, message: { content: "other" }, finish_reason: "stop" };
    const { choices } = completion({ content: "first" });
    const response = toResponse({ choices: [other, ...choices] }, contextOf(), end);
    expect(response["output"]).toMatchObject([{ content: [{ text: "first" }] }]);
  });

  it("has thoughts before texts before calls, and arguments as a text", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: { a: 1 } } };
    const response = toResponse(
      completion({ content: "t", reasoning: "r", tool_calls: [call] }, "tool_calls"),
      contextOf(),
      end,
    );
    expect(response["output"]).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "r" }] },
      { type: "message" },
      { type: "function_call", arguments: '{"a":1}' },
    ]);
  });

  it("is incomplete with the part that was cut off", () => {
    const response = toResponse(completion({ content: null, refusal: "I can" }, "length"), contextOf(), end);
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete", content: [{ type: "refusal", refusal: "I can" }] }],
    });
  });
});
