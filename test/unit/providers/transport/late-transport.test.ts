import { expect, it } from "vitest";
import { AbortNotifier } from "../../../../src/call/abort-notifier.js";
import { createLateTransport, type LoadTransport } from "../../../../src/providers/openai-compatible.js";
import type { TransportRequest } from "../../../../src/providers/transport/transport.js";

type Loaded = Awaited<ReturnType<LoadTransport>>;

/** A transport whose code is loaded when the test says so, and all that happens to it, in order. */
function startLate() {
  const log: string[] = [];
  let created = 0;
  const loading: { succeed(loaded: Loaded): void; fail(cause: Error): void }[] = [];
  const late = createLateTransport(
    { origin: "http://127.0.0.1:1", connectTimeoutMs: 1, firstByteTimeoutMs: 1, idleTimeoutMs: 1 },
    () => {
      log.push("load");
      return new Promise((succeed, fail) => loading.push({ succeed, fail }));
    },
  );
  const loaded: Loaded = {
    createTransport: ({ origin }) => {
      const name = `${origin} (${++created})`;
      return {
        send: async ({ path }) => {
          log.push(`send ${path} to ${name}`);
          throw new Error(`no answer for ${path}`);
        },
        close: async () => {
          log.push("close");
        },
      };
    },
  };
  const send = (path: string): Promise<string> => {
    const request: TransportRequest = { path, headers: {}, body: new Uint8Array(), signal: new AbortNotifier() };
    return late.send(request).then(() => "answered", String);
  };
  return {
    log,
    late,
    send,
    load: () => loading.splice(0).map(({ succeed }) => succeed(loaded)),
    fail: (cause: Error) => loading.splice(0).map(({ fail }) => fail(cause)),
  };
}

it("loads nothing before something is sent, and nothing to be closed", async () => {
  const { log, late } = startLate();
  await late.close();
  expect(log).toEqual([]);
});

it("sends all by one transport, also the first requests, however many come at once, and sends on in the same turn then", async () => {
  const { log, late, send, load } = startLate();
  const answers = [send("/1"), send("/2")];
  load();
  expect(await Promise.all(answers)).toEqual(["Error: no answer for /1", "Error: no answer for /2"]);
  const first = "http://127.0.0.1:1 (1)";
  expect(log).toEqual(["load", "load", `send /1 to ${first}`, `send /2 to ${first}`]);
  const later = send("/3");
  expect(log.at(-1)).toBe(`send /3 to ${first}`);
  await later;
  await late.close();
  expect(log.at(-1)).toBe("close");
});

it("has reached no server where its code cannot be loaded, and tries again with the next request", async () => {
  const { late, send, load, fail } = startLate();
  const request: TransportRequest = { path: "/", headers: {}, body: new Uint8Array(), signal: new AbortNotifier() };
  const failed = late.send(request);
  const cause = new Error("no such file");
  fail(cause);
  await expect(failed).rejects.toMatchObject({ name: "UpstreamError", failure: "unreachable", cause });
  const next = send("/again");
  load();
  expect(await next).toBe("Error: no answer for /again");
});
