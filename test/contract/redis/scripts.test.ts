import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ledgerScripts } from "../../../src/stores/redis/ledger/ledger-scripts.js";
import { shiftedScripts } from "./store-clock.js";

describe("the ledger's scripts", () => {
  const scripts = Object.entries(ledgerScripts);

  it("take their time from the server, and from nowhere else", () => {
    for (const [name, { text }] of scripts) {
      const usesTime = /\bnow\b/.test(text);
      expect({ name, asks: text.includes("call('TIME')") }).toEqual({ name, asks: usesTime });
      expect(text).not.toContain("ARGV[#ARGV]");
    }
    for (const { text } of Object.values(shiftedScripts)) expect(text).not.toContain("TIME");
  });

  it("are the tested ones but for the clock", () => {
    const withoutClock = (text: string) => text.replace(/local time = .*\n/, "").replace(/local now = .*/, "");
    for (const [name, { text }] of scripts) {
      expect(withoutClock(text)).toBe(withoutClock(shiftedScripts[name as keyof typeof shiftedScripts].text));
    }
  });

  it("are known by the digest of their text", () => {
    for (const [, { text, sha1 }] of scripts) expect(sha1).toBe(createHash("sha1").update(text).digest("hex"));
    expect(new Set(scripts.map(([, { sha1 }]) => sha1)).size).toBe(scripts.length);
  });

  it("turn no number into text the way that loses digits", () => {
    for (const [, { text }] of scripts) expect(text).not.toContain("tostring");
  });
});
