import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparable, formReaders, type ReadPart } from "../../../support/operations/uploads/form-readers.js";
import { isReadable, mutatedForms, oddForms } from "../../../support/operations/uploads/odd-forms.js";
import { type Rewritten, rewritten } from "../../../support/operations/uploads/rewritten.js";

/** All readers see the same, and in it what the gateway has read. */
async function expectOneReading(sent: Rewritten): Promise<void> {
  const readings: ReadPart[][] = [];
  for (const read of Object.values(formReaders)) readings.push(await read(sent));
  const [first = []] = readings;
  for (const reading of readings) expect(comparable(reading)).toEqual(comparable(first));
  expect(first.filter(({ name }) => name === "model")).toMatchObject([
    { filename: undefined, payload: "at the upstream" },
  ]);
  const files = first.filter(({ filename }) => filename !== undefined);
  expect(comparable(files)).toEqual(comparable(sent.files));
}

describe.each(oddForms)("a form with %s", (name, form) => {
  it(isReadable(name) ? "is read by all servers as by the gateway" : "is refused", async () => {
    const sent = await rewritten(form);
    expect(sent !== undefined).toBe(isReadable(name));
    if (sent === undefined) return;
    expect(sent.model).toBe("cheap");
    await expectOneReading(sent);
  });
});

it("whatever a form holds, it is refused, or read by all servers as by the gateway", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(mutatedForms, async (form) => {
      const sent = await rewritten(form);
      if (sent === undefined) return;
      accepted++;
      await expectOneReading(sent);
    }),
    { numRuns: 2000 },
  );
  // Else it would say little.
  expect(accepted).toBeGreaterThan(200);
});
