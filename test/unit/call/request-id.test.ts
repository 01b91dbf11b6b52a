import { expect, it } from "vitest";
import { RequestIds } from "../../../src/call/request-id.js";

const requestIds = new RequestIds();

it("a request's id is a random UUID of version 4, and no two are alike", () => {
  const ids = Array.from({ length: 5000 }, () => requestIds.next());
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

it("each digit of a request's id is as likely as any other, but for those that tell the version", () => {
  const ids = Array.from({ length: 4000 }, () => requestIds.next());
  for (let place = "req_".length; place < "req_".length + 36; place++) {
    const counts = new Map<string, number>();
    for (const id of ids) counts.set(id.charAt(place), (counts.get(id.charAt(place)) ?? 0) + 1);
    const digits = [...counts.keys()].sort().join("");
    if (digits === "-" || digits === "4") continue;
    expect(digits).toMatch(/^(89ab|0123456789abcdef)$/);
    const expected = ids.length / counts.size;
    // Ten standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(10 * Math.sqrt(expected));
  }
});
