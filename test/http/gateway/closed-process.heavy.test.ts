import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  chatChunks,
  eventStream,
  type FakeAnswer,
  type FakeUpstream,
  honestChat,
  startFakeUpstream,
} from "../../../src/testing.js";
import { bundled } from "../../support/bundled.js";

const script = fileURLToPath(new URL("fixtures/closing-process.ts", import.meta.url));

const answers: Record<string, FakeAnswer> = {
  "an answer that the upstream does not end": eventStream(chatChunks(), { done: true, end: "hang" }),
  "a client that left": eventStream(chatChunks(), { end: "hang" }),
  "a stream that nobody reads": eventStream(chatChunks(), { end: "hang" }),
};

describe("a process whose gateway is closed ends by itself", () => {
  let upstream: FakeUpstream;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
  });
  afterAll(() => upstream.close());

  it.each([
    "calls",
    "an answer that the upstream does not end",
    "a client that left",
    "a stream that nobody reads",
    "a key store that hangs",
    "a ledger that hangs",
    "a provider that hangs",
    "a body that does not end",
    "a settlement that fails at first",
  ])("after %s", async (scenario) => {
    upstream.reply(answers[scenario] ?? honestChat());
    const parameters = [await bundled(script), upstream.origin, scenario];
    // What would still be waited for is a minute, which no test has.
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { timeout: 30_000 });
    expect(JSON.parse(stdout)).toEqual({ scenario, active: [] });
  });
});
