import { describe, expect, it } from "vitest";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import {
  bothServers,
  nativeResponse,
  nativeServer,
  type SampleServer,
} from "../../../support/operations/responses/response-samples.js";
import { withResponses } from "../../../support/operations/responses/responses-server.js";

/** What stands in messages of servers, and must not get out. */
const secrets = [
  "sk-upstream-secret",
  "http://10.0.0.7:8000/v1",
  "upstream-small",
  "gpu7.cluster.corp",
  "Bearer abcdefghijklmnop",
];

const errorOf = (secret: string) => ({ message: `Failed at ${secret} today`, type: "server_error", code: secret });

/** Every place where a server can say something of a failure. */
function saying(kind: SampleServer, secret: string): [string, FakeAnswer, stream: boolean][] {
  const error = errorOf(secret);
  const begun = kind.events().slice(0, kind.pieces.beforeText + 1);
  const failed = { ...nativeResponse(), status: "failed", error };
  const stream = (...last: object[]) => eventStream([...begun, ...last], { done: false });
  const both: [string, FakeAnswer, boolean][] = [
    ["a refusal", wholeAnswer({ error: { ...error, type: "invalid_request_error" } }, { status: 400 }), false],
    ["a status", wholeAnswer({ error }, { status: 500 }), false],
    ["a refused stream", wholeAnswer({ error, detail: secret }, { status: 422 }), true],
    ["an error in place of a response", wholeAnswer({ error }), false],
    ["the first event", eventStream([{ error }], { done: false }), true],
    ["an event in between", stream({ error }), true],
  ];
  if (kind !== nativeServer) return both;
  return [
    ...both,
    ["a failed response", wholeAnswer(failed), false],
    ["an event of an error", stream({ ...error, type: "error" }), true],
    ["an event of a failure", stream({ type: "response.failed", response: failed }), true],
  ];
}

describe.each(bothServers)("what $name says of a failure", (kind) => {
  it.each(secrets)("does not tell of %s, wherever it stands", async (secret) => {
    await withResponses(kind, async (server) => {
      for (const [place, answer, stream] of saying(kind, secret)) {
        server.upstream.replyOnce(answer);
        const response = await server.post({ stream });
        const text = `${JSON.stringify([...response.headers])}${await response.text()}`;
        expect({ place, isTold: text.includes(secret) }).toEqual({ place, isTold: false });
        expect(text).toMatch(/"error"/);
      }
    })();
  });
});
