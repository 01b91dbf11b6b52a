import { execFile } from "node:child_process";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { bundled } from "../../support/bundled.js";
import { describeBackEnds } from "./back-ends.js";

const script = fileURLToPath(new URL("fixtures/touching.ts", import.meta.url));
const processes = 4;

describeBackEnds("keys that four processes use", (backEnd) => {
  it("keep the latest moment of all", async () => {
    const { environment, stores } = backEnd();
    const ids = Array.from({ length: 10 }, (_, index) => `key_${index}`);
    for (const id of ids) {
      await stores.keys.insert({ id, hash: hashKey(id), hint: "sk-…", account: "a", plan: "p", createdAt: 1 });
    }
    const file = await bundled(script);
    const numbers = Array.from({ length: processes }, (_, number) => [number, processes, ...ids].map(String));
    const run = promisify(execFile);
    await Promise.all(numbers.map((args) => run(execPath, [file, ...args], { env: { ...env, ...environment } })));
    const listed = await stores.keys.list("a");
    expect(listed.map(({ lastUsedAt }) => lastUsedAt)).toEqual(ids.map(() => 25 * processes - 1));
  });
});
