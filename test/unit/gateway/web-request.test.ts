import { Buffer } from "node:buffer";
import { describe, expect, it, vi } from "vitest";
import type { BodyLimits } from "../../../src/gateway/gateway.js";
import { WebRequest } from "../../../src/gateway/web-request.js";

/** As hosts on Node have one of their own, whose `body` is made when it is asked for. */
class HostsRequest extends Request {}

const usual: BodyLimits = { maxBytes: 1e6, timeoutMs: 5000, minBytesPerSecond: 1024, arrived: () => undefined };

function start(sent: string, headers: Record<string, string> = {}, made: typeof Request = HostsRequest) {
  const controller = new AbortController();
  const { signal } = controller;
  const raw = new made("http://gateway.test/v1/models", { method: "POST", headers, body: sent, signal });
  const body = vi.spyOn(raw, "body", "get");
  const request = new WebRequest(raw, { path: "/v1/models", query: "" }, raw);
  return { raw, body, request, controller };
}

const read = async (request: WebRequest, limits: Partial<BodyLimits> = {}) =>
  Buffer.from(await request.body({ ...usual, ...limits })).toString();

describe("the body of a web-standard request", () => {
  it("is read without a stream where it is short and the host has a class of its own", async () => {
    const { request, body } = start("Hi", { "content-length": "2" });
    const arrived = vi.fn(() => undefined);
    expect(await read(request, { arrived })).toBe("Hi");
    expect(body).not.toHaveBeenCalled();
    expect(arrived.mock.calls).toEqual([[2]]);
  });

  it.each([
    ["says no length", {}, {}, HostsRequest],
    ["says no number", { "content-length": "two" }, {}, HostsRequest],
    ["may be slower than one look at its speed takes", { "content-length": "10241" }, {}, HostsRequest],
    ["may be as slow as it likes", { "content-length": "2" }, { minBytesPerSecond: 0 }, HostsRequest],
    ["is the runtime's", { "content-length": "2" }, {}, Request],
  ])("is read as a stream where it %s", async (_, headers, limits, made) => {
    const { request, body } = start("Hi", headers, made);
    expect(await read(request, limits)).toBe("Hi");
    expect(body).toHaveBeenCalled();
  });

  it("is a copy where the host's code may read it, too", async () => {
    const { request, raw } = start("Hi", { "content-length": "2" });
    expect(await request.hostRequest()?.raw.text()).toBe("Hi");
    expect(raw.bodyUsed).toBe(true);
    expect(await read(request)).toBe("Hi");
  });

  it("is not read at once where the host's code has got the request, and may still read it", async () => {
    const { request, raw } = start("Hi", { "content-length": "2" });
    const atOnce = vi.spyOn(raw, "arrayBuffer");
    request.hostRequest();
    expect(await read(request)).toBe("Hi");
    expect(atOnce).not.toHaveBeenCalled();
  });

  it("is empty where the host has read it before", async () => {
    const { request, raw } = start("Hi", { "content-length": "2" });
    await raw.text();
    expect(await read(request)).toBe("");
  });

  it("is refused where it is larger than it says, finds no room, breaks off, or is late", async () => {
    const headers = { "content-length": "2" };
    await expect(read(start("x".repeat(200), headers).request, { maxBytes: 100 })).rejects.toMatchObject({
      failure: "too_large",
    });
    await expect(read(start("Hi", headers).request, { arrived: () => "no_room" })).rejects.toMatchObject({
      failure: "no_room",
    });
    const broken = start("Hi", headers);
    vi.spyOn(broken.raw, "arrayBuffer").mockRejectedValue(new Error("closed"));
    await expect(read(broken.request)).rejects.toMatchObject({ failure: "aborted" });
    const late = start("Hi", headers);
    vi.spyOn(late.raw, "arrayBuffer").mockReturnValue(new Promise(() => {}));
    await expect(read(late.request, { timeoutMs: 10 })).rejects.toMatchObject({ failure: "too_slow" });
  });

  it("is waited for no longer once the client has left", async () => {
    const { request, raw, controller } = start("Hi", { "content-length": "2" });
    vi.spyOn(raw, "arrayBuffer").mockReturnValue(new Promise(() => {}));
    const reading = read(request);
    controller.abort();
    await expect(reading).rejects.toMatchObject({ failure: "aborted" });
  });
});
