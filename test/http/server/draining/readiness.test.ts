import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chatRequest, getRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;

beforeEach(async () => {
  test = await startTestGateway();
});

afterEach(() => test.close());

async function readiness(method = "GET"): Promise<[status: number, body: string]> {
  const response = await test.gateway.handler(getRequest("/readyz", null, method));
  expect(response.headers.get("cache-control")).toBe("no-store");
  return [response.status, await response.text()];
}

describe("GET /readyz", () => {
  it("is 200 until drain(), without a key and an event", async () => {
    expect(await readiness()).toEqual([200, '{"status":"ready"}']);
    expect(await readiness("HEAD")).toEqual([200, ""]);
    expect(test.events).toEqual([]);
  });

  it("is 503 after drain(), while everything else still works", async () => {
    test.gateway.drain();
    test.gateway.drain();
    expect(await readiness()).toEqual([503, '{"status":"draining"}']);
    expect((await test.gateway.handler(getRequest("/healthz", null))).status).toBe(200);
    expect((await test.gateway.handler(getRequest("/v1/models"))).status).toBe(200);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    expect([response.status, (await response.text()).endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
  });

  it("is 503 after close(), also without drain()", async () => {
    await test.gateway.close();
    expect(await readiness()).toEqual([503, '{"status":"draining"}']);
    expect((await test.gateway.handler(getRequest("/healthz", null))).status).toBe(200);
  });
});
