import { describe, expect, it } from "vitest";
import { anthropicModel, anthropicModelList } from "../../../../src/protocols/messages/anthropic-protocol.js";

const models = ["a"].map((id) => ({
  id: `acme/${id}`,
  contextLength: 8192,
  created: 1_767_225_600,
}));
describe("the list of models in Anthropic's shape", () => {
  it("describes a model", () => {
    expect(JSON.parse(anthropicModel({ ...models[0]!, maxOutputTokens: 100, displayName: "A" }))).toEqual({
      type: "model",
      id: "acme/a",
      display_name: "A",
      created_at: "2026-01-01T00:00:00Z",
      max_input_tokens: 8192,
      max_tokens: 100,
    });
  });

  it("is one page, however long it is: clients would ask for the next one over and over", () => {
    const all = Array.from({ length: 1500 }, (_, at) => ({ ...models[0]!, id: `acme/${at}` }));
    const { data, ...rest } = JSON.parse(anthropicModelList(all));
    expect(data).toHaveLength(1500);
    expect(rest).toEqual({ has_more: false, first_id: "acme/0", last_id: "acme/1499" });
    expect(JSON.parse(anthropicModelList([]))).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });
});
