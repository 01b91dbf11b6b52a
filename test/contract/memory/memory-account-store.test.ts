import { describe, expect, it } from "vitest";
import type { AccountRecord } from "../../../src/records/accounts/account-store.js";
import { memoryAccountStore } from "../../../src/stores/memory/memory-stores.js";
import { describeAccountStore } from "../../../src/testing/describe-account-store.js";

describeAccountStore("memoryAccountStore", (accounts) => memoryAccountStore(accounts));

describe("memoryAccountStore", () => {
  it("takes an anchor as a date or a text, and gives it back in milliseconds", async () => {
    const anchor = "2026-03-11T09:30:00.000Z";
    const store = memoryAccountStore([
      { id: "a", plan: "pro", anchor },
      { id: "b", plan: "pro", anchor: new Date(anchor) },
    ]);
    for (const id of ["a", "b"]) expect((await store.find(id))?.anchor).toBe(Date.UTC(2026, 2, 11, 9, 30));
  });

  it.each<[string, unknown, RegExp]>([
    ["a map of accounts", { a: { plan: "pro" } }, /list of accounts/],
    ["an account without a plan", [{ id: "a" }], /accounts\[0\].*plan: is required/s],
    [
      "a misspelled member",
      [
        { id: "a", plan: "p" },
        { id: "b", plan: "p", stat: 1 },
      ],
      /accounts\[1\].*`stat`/s,
    ],
    [
      "an id twice",
      [
        { id: "a", plan: "p" },
        { id: "a", plan: "q" },
      ],
      /accounts\[1\].*appears twice/s,
    ],
  ])("refuses %s", (_, accounts, message) => {
    expect(() => memoryAccountStore(accounts as AccountRecord[])).toThrow(message);
  });
});
