import { expect, it } from "vitest";
import type { Mountable } from "../../../src/gateway/gateway.js";
import { createAccountPage, createOperatorPage, type OperatorRequest } from "../../../src/pages.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { startCache } from "../../support/cache/start-cache.js";
import { chatRequest } from "../../support/test-gateway.js";

type Listed = Pick<OperatorRequest, "cached" | "output_tokens" | "credits">;

async function requestsOn(page: Mountable): Promise<readonly Listed[]> {
  const headers = { "sec-fetch-site": "same-origin" };
  const response = await page.handler(new Request("http://app.test/api/requests", { headers }));
  return ((await response.json()) as { data: Listed[] }).data;
}

it("both pages tell kept responses from those that were made", async () => {
  const test = await startCache({ requestLog: memoryRequestLog(), clock: Date }, { share: 0.5 });
  const { gateway } = test;
  for (const _ of ["made", "kept"]) await (await gateway.handler(chatRequest())).text();
  const pages = [
    createAccountPage({ gateway, identify: () => ({ account: "acct_pro", plan: "pro" }) }),
    createOperatorPage({ gateway, identify: () => ({ operator: "grace" }) }),
  ];
  for (const page of pages) {
    const requests = await requestsOn(page);
    expect(requests.toSorted((one, other) => one.output_tokens - other.output_tokens)).toMatchObject([
      { cached: true, output_tokens: 0 },
      { cached: false },
    ]);
    expect(requests.every(({ credits }) => credits > 0)).toBe(true);
  }
});
