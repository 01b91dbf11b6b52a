import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bundled } from "../../support/bundled.js";

const script = fileURLToPath(new URL("fixtures/suites.ts", import.meta.url));

/** How many of the suites' tests pass and fail in node's own runner. */
async function run(...args: string[]): Promise<{ passed: number; failed: string[] }> {
  const file = await bundled(script);
  return await new Promise((resolve) => {
    // Else node's runner takes this process for its parent, and answers in its own protocol.
    const { NODE_TEST_CONTEXT: _context, VITEST: _vitest, ...env } = process.env;
    execFile(process.execPath, [file, ...args], { env, maxBuffer: 2 ** 24 }, (error, output) => {
      const failed = [...output.matchAll(/^ {4,}not ok \d+ - (.*)$/gm)].map(([, title = ""]) => title);
      expect(error !== null, output).toBe(failed.length > 0);
      resolve({ passed: output.match(/^ {4,}ok /gm)?.length ?? 0, failed });
    });
  });
}

it("pass in node's own test runner", async () => {
  const { passed, failed } = await run();
  expect(failed).toEqual([]);
  expect(passed).toBeGreaterThan(100);
});

it("find what is wrong with broken ones", async () => {
  const titles = {
    keys: ["finds nothing for another hash"],
    plans: ["finds a plan by its id, with all that it holds", 'finds nothing for "none"'],
    provider: [
      ...["gives an answer with status 400 like any other", "gives an answer with status 503 like any other"],
      ...["sends a request of images/edits, and gives its answer", "sends a request of rerank, and gives its answer"],
      "gives an error of audio/transcriptions like any other answer",
    ],
    ledger: ["gives the hold back, once"],
    responses: ["gives nothing where there are more than asked for"],
  };
  const { failed } = await run(...Object.keys(titles));
  expect(failed).toEqual(expect.arrayContaining(Object.values(titles).flat()));
});
