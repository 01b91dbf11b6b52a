import { afterEach, expect, it, vi } from "vitest";
import { wholeAnswer } from "../../../../src/testing.js";
import { startMedia } from "../../../support/media-server.js";
import { hear, heard, path } from "./hearing.js";

afterEach(() => void vi.useRealTimers());

const opening = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\n';
const ending = '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/hear\r\n--b--\r\n';

/** A form that takes so many seconds, with so many bytes in each. The time of bodies is the test's. */
async function sendSlowly(seconds: number, bytes: number, options: object = {}) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { gateway, server } = await startMedia({ models: [hear], operations: [path], ...options });
  server.reply(wholeAnswer(heard));
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent === 0) controller.enqueue(Buffer.from(opening));
        else if (sent <= seconds) {
          vi.advanceTimersByTime(1_000);
          controller.enqueue(Buffer.alloc(bytes, "x"));
        } else {
          controller.enqueue(Buffer.from(ending));
          controller.close();
        }
        sent++;
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { authorization: "Bearer sk-pro", "content-type": "multipart/form-data; boundary=b" };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const response = await gateway.handler(new Request(`http://gateway.test/v1/${path}`, init));
  return {
    status: response.status,
    error: ((await response.json()) as { error?: { code: string } }).error?.code,
    requests: server.requests.length,
  };
}

it("an upload may take a minute, longer than other bodies", async () => {
  expect(await sendSlowly(60, 2_000)).toEqual({ status: 200, error: undefined, requests: 1 });
});

it("an upload may not take longer than uploadTimeoutMs", async () => {
  const refused = { status: 408, error: "request_timeout", requests: 0 };
  expect(await sendSlowly(60, 2_000, { uploadTimeoutMs: 50_000 })).toEqual(refused);
  expect(await sendSlowly(301, 2_000)).toEqual(refused);
});

it("an upload of a hundred bytes in a second is too slow", async () => {
  expect(await sendSlowly(60, 100)).toEqual({ status: 408, error: "request_timeout", requests: 0 });
});
