import { onTestFinished } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { startTestGateway } from "../../../support/test-gateway.js";

/** What callers of the tests are: the account of `sk-pro`. */
export const pro = { account: "acct_pro", plan: "pro", anchor: null } as const;

export const ask = { model: "acme/small", messages: [{ role: "user" as const, content: "Hi" }] };

/** A gateway, and calls of its {@link pro} account within the process. It is closed behind the test. */
export async function start(options: Partial<GatewayOptions> = {}) {
  const test = await startTestGateway(options);
  onTestFinished(test.close);
  return { ...test, inProcess: test.gateway.as(pro) };
}

/** Sends a chat completion. */
export function post(fetch: typeof globalThis.fetch, init: RequestInit = {}): Promise<Response> {
  return fetch("http://infergate.invalid/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ask),
    ...init,
  });
}
