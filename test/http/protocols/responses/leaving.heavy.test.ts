import { describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate } from "../../../../src/testing.js";
import { bothServers, type SampleServer } from "../../../support/operations/responses/response-samples.js";
import { type ResponsesServer, withResponses } from "../../../support/operations/responses/responses-server.js";

/** 9 tokens of input at 1, 3 of output at 10. */
const exact = 39;

/** The head of the response, its events, and its end. */
const placesOf = (kind: SampleServer) => Array.from({ length: kind.events().length + 2 }, (_none, place) => place);

/** Has a client leave when the upstream has sent so many pieces. @returns what the upstream waits for. */
async function leaveAt(server: ResponsesServer, kind: SampleServer, place: number) {
  const gate = createGate();
  server.upstream.replyOnce(kind.stream({}, { gate }));
  const leaving = new AbortController();
  const response = server.post({ stream: true }, { signal: leaving.signal }).catch(() => undefined);
  await server.upstream.nextRequest();
  gate.step(place);
  // What the gateway has read of it by then differs from run to run: whatever it is, the books must balance.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  await (await response)?.text().catch(() => undefined);
  await expect.poll(() => server.closed(), { interval: 2 }).toBe(1);
  return gate;
}

describe.each(bothServers)("a client of $name that leaves", (kind) => {
  it.each(placesOf(kind))(
    "behind piece %i pays for the prompt and what was seen, and nothing is held",
    async (place) => {
      await withResponses(kind, async (server) => {
        const gate = await leaveAt(server, kind, place);
        await expect.poll(() => server.events, { interval: 2 }).toHaveLength(1);
        gate.open();
        const [event] = server.events;
        expect(event?.chargedMicro).toBeGreaterThan(3);
        expect(event?.chargedMicro).toBeLessThanOrEqual(100);
        if (event?.usageSource === "provider") expect(event.chargedMicro).toBe(exact);
        // The upstream is not left working for nobody.
        if (event?.endReason === "client_gone") await server.upstream.lastRequest.closed;
      })();
    },
  );

  it.each(placesOf(kind))("behind piece %i pays what all of it costs, where it is read to its end", async (place) => {
    await withResponses(
      kind,
      async (server) => {
        const gate = await leaveAt(server, kind, place);
        gate.open();
        await expect.poll(() => server.events, { interval: 2 }).toHaveLength(1);
        expect(server.events).toMatchObject([{ usageSource: "provider", chargedMicro: exact }]);
      },
      { plans: memoryPlanStore({ pro: { models: ["acme/*"], disconnect: "drain" } }) },
    )();
  });
});
