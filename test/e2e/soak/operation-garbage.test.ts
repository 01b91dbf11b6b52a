import { expect, it } from "vitest";
import { OperationLanes } from "../../../src/stores/redis/ledger/operation-lanes.js";
import { oldSpaceGrowth } from "../../support/old-space-growth.js";

const numbers = new Float64Array(2);
const turn = () => new Promise((resolve) => setImmediate(resolve));

it("leaves no operation that has ended to the collection of the whole heap", async () => {
  const lanes = new OperationLanes(
    async (groups) => {
      await turn();
      await turn();
      return groups.flatMap(({ waiting }) => waiting.map(() => ({ status: "done" as const, numbers, first: 0 })));
    },
    { operations: 16, inFlight: 2 },
    false,
  );
  let last = 0;
  const submit = () => {
    const keys = { names: new Array(128).fill("key"), packed: "" };
    return lanes.submit({ account: `a${++last % 50}`, keys, text: `${last}` });
  };
  const bytes = await oldSpaceGrowth(20_000, submit);
  // All operations together are 20 MB.
  expect(bytes).toBeLessThan(2e6);
});
