import { expect, it } from "vitest";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { chatAnswer, wholeAnswer } from "../../../src/testing.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";

it("a warning that the host keeps holds no request in memory", async () => {
  const bodies: WeakRef<object>[] = [];
  const { call } = {
    call: (async ({ body }) => {
      bodies.push(new WeakRef(body));
      return { status: 500, headers: {}, body: (async function* () {})() };
    }) satisfies UpstreamProvider["call"],
  };
  const test = await startTestGateway({ providers: { fake: { call } } });
  try {
    for (let calls = 0; calls < 3; calls++) expect((await test.gateway.handler(chatRequest())).status).toBe(502);
    expect(test.warnings).toHaveLength(3);
    // What a WeakRef was made of lives until the end of the turn.
    await new Promise(setImmediate);
    collectGarbage();
    expect(bodies.filter((body) => body.deref() !== undefined).length).toBeLessThanOrEqual(1);
  } finally {
    await test.close();
  }
});

it("an upstream's id with the provider's key in it is told to nobody", async () => {
  const test = await startTestGateway();
  try {
    for (const id of ["up-1", "for-sk-upstream-secret"]) {
      test.upstream.replyOnce(wholeAnswer(chatAnswer(), { headers: { "x-request-id": id } }));
      await (await test.gateway.handler(chatRequest())).text();
    }
    expect(test.events.map(({ attempts }) => attempts[0]?.upstreamRequestId)).toEqual(["up-1", undefined]);
  } finally {
    await test.close();
  }
});
