import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatChunks, createGate, errorBody, eventStream, wholeAnswer } from "../../../src/testing.js";
import { type Adapter, type HostedGateway, type Place, startHosted } from "../../support/adapters/host.js";
import { chatCall, readPieces, refusal } from "./client.js";

/** Calls that end by themselves. */
export function describeCalls(adapter: Adapter, place: Place): void {
  describe("a call", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place);
    });
    afterAll(() => test.close());
    const call = (body = {}, init = {}) => test.host.fetch(test.path("/v1/chat/completions"), chatCall(body, init));

    it("gets a whole answer", async () => {
      const completed = test.nextEvent();
      const response = await call();
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({ object: "chat.completion", model: "acme/small" });
      expect(response.headers.get("x-ratelimit-limit-session")).toBe("100");
      if (test.host.origin !== undefined) {
        expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
      }
      expect(await completed).toMatchObject({ status: 200, endReason: "completed" });
    });

    it("gets each event before the next one is there", async () => {
      const gate = createGate();
      const chunks = chatChunks("Hello wide world");
      test.upstream.replyOnce(eventStream(chunks, { gate }));
      gate.step(2);
      const response = await call({ stream: true });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      expect(response.headers.get("content-length")).toBeNull();
      const pieces = readPieces(response);
      const seen: string[] = [];
      for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next()) {
        seen.push(piece);
        // The client does not see the chunk after the last one that it requested: the usage.
        if (piece.includes('"finish_reason":"stop"')) gate.open();
        else gate.step();
      }
      // Without the usage chunk, which the client has not requested, and with [DONE].
      expect(seen.length).toBeGreaterThanOrEqual(chunks.length - 1);
      for (const piece of seen) expect(piece).toMatch(/^data: .*\n\n$/s);
      expect(seen.join("")).toMatch(/data: \[DONE\]\n\n$/);
    });

    it("gets the gateway's errors as they are", async () => {
      const unauthorized = await call({}, { headers: { "content-type": "application/json" } });
      expect(unauthorized.status).toBe(401);
      expect(unauthorized.headers.get("www-authenticate")).toMatch(/^Bearer/);
      expect(await unauthorized.json()).toMatchObject({ error: { code: "invalid_api_key" } });
      test.upstream.replyOnce(wholeAnswer(errorBody("Broken."), { status: 500 }));
      const failed = await call();
      expect(await refusal(failed)).toEqual([502, "bad_gateway"]);
    });

    it.each([
      ["no JSON", '{"model":', "application/json", 400, "invalid_json"],
      ["no body", "", "application/json", 400, "invalid_json"],
      ["another type", "{}", "text/csv", 415, "unsupported_content_type"],
      ["a malformed type", "{}", "nonsense", 415, "unsupported_content_type"],
      ["a form", "model=acme", "application/x-www-form-urlencoded", 415, "unsupported_content_type"],
    ])("with %s is refused in OpenAI's shape", async (_what, body, type, status, code) => {
      const response = await call({}, { body, headers: { authorization: "Bearer sk-pro", "content-type": type } });
      expect(await refusal(response)).toEqual([status, code]);
    });

    it("with two keys is refused", async () => {
      const headers = new Headers({ "content-type": "application/json" });
      headers.append("authorization", "Bearer sk-pro");
      headers.append("authorization", "Bearer sk-basic");
      expect((await call({}, { headers })).status).toBe(401);
    });

    it("reaches the upstream byte for byte", async () => {
      const body =
        '{"model" : "acme/small", "messages":[{"role":"user","content":"h\u00e9 \\u00e9 \u{1f600}"}], "seed":12345678901234567890}';
      expect((await call({}, { body })).status).toBe(200);
      expect(test.upstream.lastRequest.body.toString()).toBe(body.replace("acme/small", "upstream-small"));
    });
  });
}
