import { afterEach, describe, expect, it } from "vitest";
import { createOperatorPage } from "../../../src/pages.js";
import { memoryAccountStore, memoryModelStore } from "../../../src/stores/memory/memory-stores.js";
import type { Host } from "../../support/adapters/host.js";
import { mount, type PageHost, pageHosts } from "../../support/pages/page-hosts.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
  await test.close();
});

/** Ids that a path could not carry through every proxy. */
const ids = ["org/acme", "..", ".", "a b?c#d&e=f%2F", "x<script>", "ä\u202Eö"];

async function start({ basePath, start: startHost }: PageHost) {
  test = await startTestGateway({
    accounts: memoryAccountStore(ids.map((id) => ({ id, plan: "pro" }))),
    modelStore: memoryModelStore(),
  });
  const identify = (request: { header(name: string): string | undefined }) =>
    request.header("cookie") === "admin=1" && { operator: "grace" };
  host = await startHost(createOperatorPage({ gateway: test.gateway, identify, basePath }));
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${host?.origin}${mount}/api/${path}`, {
      method,
      headers: {
        cookie: "admin=1",
        "sec-fetch-site": "same-origin",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: JSON.parse((await response.text()) || "null") };
  };
}

describe.each(Object.entries(pageHosts))("the operator's page in %s", (_name, pageHost) => {
  it("finds and changes accounts of any id, and books twice what is sent twice only once", async () => {
    const call = await start(pageHost);
    for (const id of ids) {
      const query = `?${new URLSearchParams({ id })}`;
      expect(await call("GET", `account${query}`)).toMatchObject({
        status: 200,
        json: { id, record: { plan: "pro" } },
      });
      const topUp = { id: `form ${id}`, credits: 2.5, note: "gift" };
      const both = await Promise.all([0, 1].map(() => call("POST", `account/top-up${query}`, topUp)));
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      const { json } = await call("GET", `account${query}`);
      expect(json.balance.prepaid.balance).toBe(2.5);
    }
    const query = "?id=org%2Facme";
    const { json } = await call("GET", `account${query}`);
    const match = { "if-match": `"${json.record.version}"` };
    expect((await call("PATCH", `account${query}`, { plan: "basic" }, match)).json.record.plan).toBe("basic");
    expect((await call("PATCH", `account${query}`, { plan: "pro" }, match)).status).toBe(412);
  });

  it("puts and removes plans and models by the version that was read", async () => {
    const call = await start(pageHost);
    const model = { ...smallModel, price: { input: 3, output: 30 } };
    const made = await call("PUT", "model", { model }, { "if-none-match": "*" });
    expect(made).toMatchObject({ status: 200, json: { id: "acme/small", source: "store" } });
    const match = { "if-match": `"${made.json.version}"` };
    expect(await call("POST", "model/remove?id=acme/small", {}, match)).toMatchObject({ json: { removed: true } });
    const plan = { id: "team/plan", models: ["acme/*"] };
    const put = await call("PUT", "plan", { plan }, { "if-none-match": "*" });
    expect(put).toMatchObject({ status: 200, json: { plan } });
    expect((await call("PUT", "plan", { plan }, { "if-match": '"another"' })).status).toBe(412);
    expect((await call("DELETE", "plan?id=team/plan")).status).toBe(405);
  });
});
