import { expect, it } from "vitest";
import { checkKey } from "../../src/keys/check-key.js";

const key = { id: "key_1", account: "a", plan: "pro" };

it.each([9e15, -9e15, 1e300, Number.NaN, "soon"])("an anchor that is no date is not valid: %s", (anchor) => {
  expect(() => checkKey({ ...key, anchor })).toThrow(/anchor/);
});

it("a moment beyond all dates says never", () => {
  expect(checkKey({ ...key, expiresAt: Number.MAX_SAFE_INTEGER }).expiresAt).toBe(Number.MAX_SAFE_INTEGER);
});
