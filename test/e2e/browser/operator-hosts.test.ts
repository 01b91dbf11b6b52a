import { createServer, request as sendRequest } from "node:http";
import fastify from "fastify";
import { afterEach, expect, it } from "vitest";
import { toFastifyPlugin } from "../../../src/fastify.js";
import { createOperatorPage, type OperatorPageOptions } from "../../../src/pages.js";
import { listenFastify } from "../../support/adapters/fastify-adapter.js";
import { listenOn, toHost } from "../../support/adapters/host.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { startSampleGateway } from "./support/sample-gateway.js";
import { startSampleHost } from "./support/sample-host.js";

const changing = /^(?:New|Edit|Remove|Disable|Enable|Move|Revoke|Top up|Grant|Deduct|Reset|Change|Suspend)/;

describeInBrowser("the operator's page of a host", (visits) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  const suspend = async (url: string) => {
    const page = await visits.open(`${url}#account/acme`, { user: "root" });
    await page.getByRole("button", { name: "Suspend acme" }).click();
    await page.getByLabel("Note").fill("over there");
    await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
    await page.getByText("All calls of this account are refused.").waitFor();
    await page.getByRole("link", { name: "Models" }).click();
    await page.getByRole("rowheader", { name: "openai/gpt-5-mini" }).waitFor();
  };

  it("works in Fastify", async () => {
    const sample = await startSampleGateway();
    ends.push(sample.close);
    const { gateway } = sample;
    const app = fastify({ forceCloseConnections: true });
    const page = createOperatorPage({ gateway, identify: () => ({ operator: "root@acme.test" }) });
    void app.register(toFastifyPlugin(page), { prefix: "/deep/down/admin" });
    const host = await listenFastify(app);
    ends.push(() => host.close());
    await suspend(`${host.origin}/deep/down/admin`);
    expect((await gateway.audit.list()).entries[0]).toMatchObject({ by: "root@acme.test", note: "over there" });
    // Without `live`, there is no such view.
    const other = await visits.open(`${host.origin}/deep/down/admin/`, { user: "root" });
    await other.getByRole("link", { name: "Ledger" }).waitFor();
    await expect.poll(() => other.getByRole("link", { name: "Live" }).count()).toBe(0);
  });

  it("works behind a proxy that takes a prefix off", async () => {
    const sample = await startSampleHost();
    ends.push(sample.close);
    const prefix = "/outer/prefix";
    const proxy = createServer((incoming, outgoing) => {
      const url = new URL(`${sample.origin}${(incoming.url ?? "").slice(prefix.length)}`);
      const headers = { ...incoming.headers, host: url.host };
      incoming.pipe(
        sendRequest(url, { method: incoming.method, headers }, (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(outgoing);
        }),
      );
    });
    const host = toHost(await listenOn(proxy));
    ends.push(() => host.close());
    await suspend(`${host.origin}${prefix}/admin/ai`);
    expect((await sample.gateway.accounts.get("acme"))?.status).toBe("suspended");
  });

  it("changes nothing, and offers no change, where it is read-only", async () => {
    const sample = await startSampleHost({ operator: { readOnly: true } });
    ends.push(sample.close);
    await sample.gateway.keys.create({ account: "acme", name: "Laptop" });
    const page = await visits.open(sample.operator, { user: "root" });
    await page.getByText("Read-only").waitFor();
    for (const view of ["accounts", "account/acme", "plans", "models"]) {
      await page.goto(`${sample.operator}#${view}`);
      await page.getByRole("rowheader").first().waitFor();
      const buttons = await page.getByRole("main").getByRole("button").allTextContents();
      expect([view, buttons.filter((text) => changing.test(text))]).toEqual([view, []]);
    }
  });

  it("says what the gateway does not keep", async () => {
    const test = await startTestGateway();
    ends.push(test.close);
    const identify: OperatorPageOptions["identify"] = () => ({ operator: "grace" });
    const page = createOperatorPage({
      gateway: test.gateway,
      identify,
      title: "Ops",
      texts: { noAudit: "Kein Protokoll" },
    });
    const app = fastify({ forceCloseConnections: true });
    void app.register(toFastifyPlugin(page), { prefix: "/ops" });
    const host = await listenFastify(app);
    ends.push(() => host.close());
    const open = await visits.open(`${host.origin}/ops`, { user: "root", allow: [/501/] });
    for (const [view, text] of [
      ["accounts", "This gateway keeps no accounts"],
      ["requests", "Requests are not logged"],
      ["audit", "Kein Protokoll"],
      ["models", "Models are those of the gateway’s options"],
      ["ledger", "Requests are not logged"],
    ] as const) {
      await open.goto(`${host.origin}/ops#${view}`);
      await open.getByText(text).first().waitFor();
    }
    await open.goto(`${host.origin}/ops#accounts/${encodeURIComponent("query=acct_pro")}`);
    await open.getByRole("link", { name: "acct_pro" }).click();
    await open.getByText("There is no record of this account").waitFor();
  });

  it("leaves nothing when the operator is signed out", async () => {
    const sample = await startSampleHost();
    ends.push(sample.close);
    const page = await visits.open(`${sample.operator}#accounts`, { user: "root", allow: [/401/] });
    await page.getByRole("rowheader", { name: "acme" }).waitFor();
    sample.isOpen = false;
    await page.getByRole("link", { name: "Plans" }).click();
    await page.getByText("You are signed out").first().waitFor();
    expect(await page.content()).not.toContain("zenith");
  });
});
