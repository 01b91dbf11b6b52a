import { describe, expect, it } from "vitest";
import { memoryAuditTrail } from "../../../src/stores/memory/memory-audit-trail.js";

describe("memoryAuditTrail", () => {
  it.each([{ maxDays: 0 }, { maxDays: 1.5 }, { maxDays: 36_501 }, { maxEntries: 0 }, { maxEntries: Number.NaN }])(
    "refuses the limits %j",
    (limits) => {
      expect(() => memoryAuditTrail(limits)).toThrow(RangeError);
    },
  );
});
