import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Adapter, type HostedGateway, hostAnswers, type Place, startHosted } from "../../support/adapters/host.js";
import { openRaw } from "../../support/adapters/raw-connection.js";
import { authorized, chatCall } from "./client.js";

/** Which paths are the gateway's, which the host's. */
export function describeRouting(adapter: Adapter, place: Place): void {
  describe("routing", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place);
    });
    afterAll(() => test.close());
    const get = (path: string, method = "GET") => test.host.fetch(path, { method, headers: authorized });

    it.each(["/v1/models", "/v1/models/", "/v1/models?beta=true", "/v1/models?next=/hello"])(
      "serves %s",
      async (path) => {
        const response = await get(test.path(path));
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toBe("application/json");
        expect(response.headers.get("x-request-id")).toMatch(/^req_/);
        expect(await response.json()).toMatchObject({ object: "list", data: [{ id: "acme/small" }, {}, {}, {}] });
      },
    );

    it.each(["acme/small", "acme%2Fsmall", "acme/small/", "acme%2fsmal%6C"])("serves the model %s", async (id) => {
      const response = await get(test.path(`/v1/models/${id}`));
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: "acme/small" });
    });

    it("decodes a model's id once", async () => {
      const response = await get(test.path("/v1/models/acme%252Fsmall"));
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: { code: "model_not_found", message: expect.stringContaining("'acme%2Fsmall'") },
      });
    });

    it("serves ids longer than any router's limit for parameters", async () => {
      const response = await get(test.path(`/v1/models/${"long/".repeat(100)}id`));
      expect(await response.json()).toMatchObject({ error: { code: "model_not_found" } });
    });

    it("answers HEAD like GET, without a body", async () => {
      const [head, whole] = [await get(test.path("/v1/models"), "HEAD"), await get(test.path("/v1/models"))];
      const body = await whole.text();
      expect(head.status).toBe(200);
      expect(await head.text()).toBe("");
      expect(head.headers.get("content-type")).toBe("application/json");
      const length = head.headers.get("content-length");
      if (length !== null) expect(Number(length)).toBe(Buffer.byteLength(body));
    });

    it("serves DELETE", async () => {
      const response = await get(test.path("/v1/responses/resp_none"), "DELETE");
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { message: "Response with id 'resp_none' not found." } });
    });

    it("reads the query of a kept response: its pages, and its events", async () => {
      const input = ["one", "two", "three"].map((content) => ({ role: "user", content }));
      const call = chatCall({ input, messages: undefined });
      const made = await test.host.fetch(test.path("/v1/responses"), call);
      const { id } = (await made.json()) as { id: string };
      const page = await get(test.path(`/v1/responses/${id}/input_items?limit=1&order=asc&include%5B%5D=x`));
      expect(await page.json()).toMatchObject({ data: [{ content: "one" }], has_more: true });
      const events = await get(test.path(`/v1/responses/${id}?starting_after=0&stream=true`));
      expect(events.headers.get("content-type")).toMatch(/^text\/event-stream/);
      const text = await events.text();
      expect(text).toMatch(/^event: response.in_progress\n/);
      expect(text).toContain("event: response.completed\n");
    });

    it("refuses a WebSocket of responses at once, so that its client goes on over HTTP", async () => {
      const path = test.path("/v1/responses");
      const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
      if (test.host.origin === undefined) {
        const response = await test.host.fetch(path, { headers: { ...authorized, ...upgrade } });
        expect(response.status).toBe(426);
        expect(response.headers.get("upgrade")).toBe("HTTP/1.1");
        expect(await response.json()).toMatchObject({ error: { code: "websockets_not_supported" } });
        return;
      }
      const connection = await openRaw(test.host.origin);
      const headers = Object.entries({ host: "gateway.test", ...authorized, ...upgrade });
      connection.send(`GET ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), "", "");
      const answer = await connection.until("websockets_not_supported");
      expect(answer).toMatch(/^HTTP\/1\.1 426 /);
      expect(answer).toMatch(/^upgrade: HTTP\/1\.1\r$/im);
      connection.socket.destroy();
      await connection.closed;
    });

    it("answers HEAD where only POST is allowed", async () => {
      const response = await get(test.path("/v1/chat/completions"), "HEAD");
      expect(response.status).toBe(405);
      expect(await response.text()).toBe("");
    });

    it("answers OPTIONS", async () => {
      const response = await get(test.path("/v1/chat/completions"), "OPTIONS");
      expect(response.status).toBe(204);
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      expect(await response.text()).toBe("");
    });

    it("takes one trailing slash for none", async () => {
      const response = await test.host.fetch(test.path("/v1/chat/completions/"), chatCall());
      expect(response.status).toBe(200);
    });

    it("answers /healthz without a key", async () => {
      const response = await test.host.fetch(test.path("/healthz"));
      expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
    });

    it("leaves the host's own routes alone", async () => {
      expect(await (await get("/hello")).text()).toBe(hostAnswers.hello);
      expect(await (await get("/v1/other")).text()).toBe(hostAnswers.other);
    });

    it("leaves the host its error handler and its 404", async () => {
      const failed = await get("/boom");
      expect([failed.status, await failed.text()]).toEqual([500, hostAnswers.error]);
      for (const path of ["/nothing", "/v1", "/v1/modelsx", "/"]) {
        const missing = await get(path);
        expect([path, missing.status, await missing.text()]).toEqual([path, 404, hostAnswers.notFound]);
      }
    });

    it("answers below its prefix only", async () => {
      if (place.prefix === "") return;
      for (const path of ["/v1/models", `${place.prefix}x/v1/models`, `/x${place.prefix}/v1/models`, place.prefix]) {
        const response = await get(path);
        expect([path, response.status, await response.text()]).toEqual([path, 404, hostAnswers.notFound]);
      }
    });

    it("answers or passes on what is below its prefix but not its own", async () => {
      if (place.prefix === "") return;
      for (const path of ["/v1/other", "/hello", "/", "/v1/chat", "/v1/models:x"]) {
        const response = await get(test.path(path));
        expect(response.status).toBe(404);
        const text = await response.text();
        if (adapter.passesOn) expect(text).toBe(hostAnswers.notFound);
        else expect(JSON.parse(text)).toMatchObject({ error: { code: "unknown_url" } });
      }
    });
  });
}
