import { describe, expect, it } from "vitest";
import { LeasedWindows } from "../../../../src/stores/redis/ledger/recent-accounts.js";

describe("the windows of an account's leases", () => {
  const spans = [10, 20, 11, 21, 12, 22] as const;
  const starts = { session: 10, week: 11, month: 12 };
  const ends = { session: 20, week: 21, month: 22 };

  it("are shared for as long as they are the same, wherever they stand", () => {
    const windows = new LeasedWindows();
    const first = windows.read(Float64Array.from([0, ...spans]), 1, 2);
    expect(first).toEqual({ starts, ends });
    expect(windows.read(Float64Array.from([10, 20, 0, 11, 21, 0, 12, 22, 0]), 0, 3)).toBe(first);
    expect([first.starts, first.ends].every(Object.isFrozen)).toBe(true);
    expect(windows.text(first)).toBe("10,11,12,20,21,22");
  });

  it.each([0, 1, 2, 3, 4, 5])("are others where number %i is another", (place) => {
    const windows = new LeasedWindows();
    const first = windows.read(Float64Array.from(spans), 0, 2);
    const changed = [...spans] as number[];
    changed[place] = 99;
    const second = windows.read(Float64Array.from(changed), 0, 2);
    expect(second.starts).toEqual({ session: changed[0], week: changed[2], month: changed[4] });
    expect(second.ends).toEqual({ session: changed[1], week: changed[3], month: changed[5] });
    expect(first).toEqual({ starts, ends });
    // A lease of before keeps its own.
    expect(windows.text(first)).toBe("10,11,12,20,21,22");
    expect(windows.text(structuredClone(first))).toBe("10,11,12,20,21,22");
  });
});
