import { describe, expect, it } from "vitest";
import { anthropicModel, anthropicModelList } from "../../src/anthropic/models-list.js";

const models = ["a", "b", "c", "d", "e"].map((id) => ({
  id: `acme/${id}`,
  contextLength: 8192,
  created: 1_767_225_600,
}));
const page = (query: Parameters<typeof anthropicModelList>[1] = {}) => {
  const { data, ...rest } = JSON.parse(anthropicModelList(models, query));
  return [data.map(({ id }: { id: string }) => id.slice(-1)).join(""), rest.has_more, rest.first_id, rest.last_id];
};

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

  it("is given page by page", () => {
    expect(page()).toEqual(["abcde", false, "acme/a", "acme/e"]);
    expect(page({ limit: "2" })).toEqual(["ab", true, "acme/a", "acme/b"]);
    expect(page({ limit: "2", afterId: "acme/b" })).toEqual(["cd", true, "acme/c", "acme/d"]);
    expect(page({ limit: "2", afterId: "acme/d" })).toEqual(["e", false, "acme/e", "acme/e"]);
    expect(page({ limit: "2", beforeId: "acme/d" })).toEqual(["bc", true, "acme/b", "acme/c"]);
    expect(page({ limit: "9", beforeId: "acme/c" })).toEqual(["ab", false, "acme/a", "acme/b"]);
    expect(page({ limit: "-1" })[0]).toBe("abcde");
    expect(page({ limit: "0" })[0]).toBe("a");
    expect(JSON.parse(anthropicModelList([], {}))).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });
});
