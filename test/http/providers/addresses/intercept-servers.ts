import nodeHTTP from "node:http";
import nodeHTTPS from "node:https";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

export interface InterceptedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface InterceptedAnswer {
  status: number;
  /** No `set-cookie`: msw plays a browser, and would send the cookie with the next request. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface InterceptedServers {
  /** Those of the test that runs. */
  readonly received: readonly InterceptedRequest[];
  /** For the rest of the test. */
  answerAt(url: string, answer: InterceptedAnswer): void;
}

/** While the tests of this file run, no request leaves the process: where no answer is arranged, `fetch` rejects. */
export function interceptServers(): InterceptedServers {
  const server = setupServer();
  let received: InterceptedRequest[] = [];
  const untouched = interceptedGlobals();
  beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
  afterEach(() => {
    server.resetHandlers();
    received = [];
  });
  afterAll(() => {
    server.close();
    // The files that come after this one run in the same process.
    expect(interceptedGlobals()).toEqual(untouched);
  });
  return {
    get received() {
      return received;
    },
    answerAt(url, { status, headers, body }) {
      // A query is not part of what msw looks for; that it is there, the request shows.
      const handler = http.post(url.replace(/\?.*/, ""), async ({ request }) => {
        const { method, url, headers: sent } = request;
        received.push({ method, url, headers: Object.fromEntries(sent), body: await request.text() });
        return new HttpResponse(inPieces(body), { status, headers });
      });
      server.use(handler);
    },
  };
}

function interceptedGlobals(): unknown[] {
  return [globalThis.fetch, nodeHTTP.request, nodeHTTP.get, nodeHTTPS.request, nodeHTTPS.get];
}

/** Cut where no server would cut it: within events, lines and letters. */
function inPieces(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 61));
      at += 61;
    },
  });
}
