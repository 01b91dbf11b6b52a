import { afterAll, describe, expect, it } from "vitest";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { capOf, type Protocol, protocols } from "./greedy-upstream.js";
import { startBounded } from "./start-bounded.js";

afterAll(expectNoSockets);

/** One call that uses all of the model's output: 64,000 tokens at 10 micro-credits, and 5 of the prompt at 1. */
const wholeCall = 640_005;

/** 40 calls at once of an account that has one prepaid credit, and a plan that includes none. */
async function spendAtOnce(
  { client, target, stream }: { client: Protocol; target: Protocol; stream: boolean },
  defaultOutputTokens?: number,
) {
  const server = await startBounded({ target, plan: { credits: { month: 0 }, defaultOutputTokens } });
  try {
    await server.gateway.accounts.topUp("acct_pro", { id: "payment_1", credits: 1 });
    const responses = await Promise.all(Array.from({ length: 40 }, () => server.call(client, { stream })));
    const statuses = responses.map(({ status }) => status);
    await Promise.all(responses.map((response) => response.text()));
    await expect.poll(() => server.events.length).toBe(40);
    const { prepaid } = await server.gateway.accounts.balance("acct_pro");
    const sent = new Set(server.upstream.requests.map(({ json }) => capOf(json)));
    return {
      admitted: statuses.filter((status) => status === 200).length,
      denied: statuses.filter((status) => status === 429).length,
      balanceMicro: prepaid?.balanceMicro,
      sent: [...sent],
      warnings: server.warnings.map(({ code }) => code),
    };
  } finally {
    await server.close();
  }
}

const cases = protocols.flatMap((client) =>
  protocols
    // A server of the Responses API alone is no target for clients of other protocols.
    .filter((target) => target !== "responses" || client === "responses")
    .flatMap((target) => [false, true].map((stream) => ({ client, target, stream }))),
);

describe("calls without a cap, 40 at once", () => {
  it.each(cases)("overdraw by less than one of them: $client to $target, streamed: $stream", async (each) => {
    const { admitted, denied, balanceMicro, sent, warnings } = await spendAtOnce(each);
    // 1 credit is left, 0.64 are held, then 1.28: nobody else gets in.
    expect({ admitted, denied }).toEqual({ admitted: 2, denied: 38 });
    expect(balanceMicro).toBe(1_000_000 - 2 * wholeCall);
    // Messages do not go without a cap. No other request has anything written into it.
    expect(sent).toEqual([each.target === "messages" ? 64_000 : undefined]);
    expect(warnings).toEqual([]);
  });

  it.each(cases)("are sent with the plan's cap and hold it: $client to $target, streamed: $stream", async (each) => {
    const { admitted, balanceMicro, sent } = await spendAtOnce(each, 1000);
    expect(admitted).toBe(40);
    expect(balanceMicro).toBe(1_000_000 - 40 * (1000 * 10 + 5));
    expect(sent).toEqual([1000]);
  });
});
