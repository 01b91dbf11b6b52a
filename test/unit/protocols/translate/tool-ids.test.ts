import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromMessagesToolId, toMessagesToolId } from "../../../../src/protocols/translate/tool-ids.js";

const ids = fc.oneof(fc.string({ unit: "grapheme", minLength: 1 }), fc.stringMatching(/^toolu_x[A-Za-z0-9_-]{0,9}$/));

describe("the id of a tool call", () => {
  it("is one that Anthropic takes, and comes back as it was", () => {
    fc.assert(
      fc.property(ids, (id) => {
        expect(toMessagesToolId(id)).toMatch(/^[a-zA-Z0-9_-]+$/);
        expect(fromMessagesToolId(toMessagesToolId(id))).toBe(id);
      }),
    );
  });

  it("stays as it is where it can", () => {
    for (const id of ["call_1", "toolu_01A09q90qw90lq917835lq9"]) expect(toMessagesToolId(id)).toBe(id);
    // Not of the gateway's making.
    expect(fromMessagesToolId("toolu_x!")).toBe("toolu_x!");
    expect(fromMessagesToolId("toolu_xyz")).toBe("toolu_xyz");
  });
});
