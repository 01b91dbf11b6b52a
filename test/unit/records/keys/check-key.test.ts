import { expect, it } from "vitest";
import { checkKey } from "../../../../src/records/keys/check-key.js";

const key = { id: "key_1", account: "a", plan: "pro" };

it.each([9e15, -9e15, 1e300, Number.NaN, "soon"])("an anchor that is no date is not valid: %s", (anchor) => {
  expect(() => checkKey({ ...key, anchor })).toThrow(/anchor/);
});

it.each(["id", "account", "plan"])("a record whose %s stores mix up is not valid", (member) => {
  for (const text of ["", "\ud83d", "user-\ud83e", "a\0b", "a\nb", "\u0085", "a".repeat(257)]) {
    expect(() => checkKey({ ...key, [member]: text })).toThrow(new RegExp(`^${member}: must`));
  }
  expect(() => checkKey({ ...key, [member]: "user-\ufffd \u{1f600}" })).not.toThrow();
});

it("a moment beyond all dates says never", () => {
  expect(checkKey({ ...key, expiresAt: Number.MAX_SAFE_INTEGER }).expiresAt).toBe(Number.MAX_SAFE_INTEGER);
});
