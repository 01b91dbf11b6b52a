import { afterEach, beforeEach, expect, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";
import { comeBack, settled } from "./support/settled.js";
import { signIn } from "./support/visits.js";

const views = ["overview", "keys", "usage", "requests", "models", "connect"];

describeInBrowser("readers of the account page", (visits) => {
  let host: SampleHost;
  beforeEach(async () => {
    host = await startSampleHost();
  });
  afterEach(() => host?.close());

  it("see nothing of each other, in two browsers at once", async () => {
    await liveAMonth(host);
    await host.gateway.keys.create({ account: "zenith", name: "Zenith’s only key" });
    const [olga, eve] = await Promise.all(["olga", "eve"].map((user) => visits.open(host.account, { user })));
    for (const view of [...views, "members", "statement"]) {
      for (const [page, others] of [
        [olga, /Zenith|starter/],
        [eve, /Production|laptop|Notebook|\bteam\b|acme|\bada\b|\bbob\b|anthropic/i],
      ] as const) {
        await page?.goto(`${host.account}#${view}`);
        if (page) await settled(page);
        expect(await page?.locator("main").textContent()).not.toMatch(others);
      }
    }
  });

  it("who are members see their own budgets, keys and calls, and neither members nor statement", async () => {
    await liveAMonth(host);
    const page = await visits.open(host.account, { user: "bob" });
    await page.getByRole("meter", { name: "Today · member bob" }).waitFor();
    expect(await page.getByRole("navigation").getByRole("link").allTextContents()).toEqual([
      ...["Overview", "API keys", "Usage", "Requests", "Models", "Connect"],
    ]);
    for (const view of views) {
      await page.goto(`${host.account}#${view}`);
      await settled(page);
      expect(await page.locator("main").textContent()).not.toMatch(/\bada\b|laptop|Production|This week/i);
    }
    await page.goto(`${host.account}#keys`);
    expect(await page.locator(".keys h2").allTextContents()).toEqual(["Notebook"]);
    await page.getByRole("button", { name: "New key" }).click();
    expect(await page.getByLabel("Tags").inputValue()).toBe("member=bob");
    // What is an owner's leads to the first view.
    await page.goto(`${host.account}#members`);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  it("who sign out see that, and nothing of them is left", async () => {
    await host.gateway.keys.create({ account: "acme", name: "Very private" });
    const page = await visits.open(`${host.account}#keys`, { user: "olga", allow: [/status of 401/] });
    await page.getByRole("button", { name: "Edit Very private" }).click();
    host.isOpen = false;
    await comeBack(page);
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    expect(await page.content()).not.toMatch(/Very private|dialog|Plan team/);
    // It asks no more.
    const asked = () => page.evaluate(() => performance.getEntriesByType("resource").length);
    const before = await asked();
    await comeBack(page);
    expect(await asked()).toBe(before);
    host.isOpen = true;
    await page.getByRole("button", { name: "Load again" }).click();
    await page.getByRole("heading", { name: "Very private" }).waitFor();
  });

  it("who go back to a page that the browser has kept get it anew", async () => {
    await host.gateway.keys.create({ account: "acme", name: "Very private" });
    const page = await visits.open(`${host.account}#keys`, { user: "olga", allow: [/status of 401/] });
    await page.getByRole("heading", { name: "Very private" }).waitFor();
    host.isOpen = false;
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
    await page.getByText("Sign in to see this page.").waitFor();
    expect(await page.content()).not.toContain("Very private");
  });

  it("who sign in as somebody else find a page of their own", async () => {
    await host.gateway.keys.create({ account: "acme", name: "Very private" });
    const page = await visits.open(`${host.account}#keys`, { user: "olga" });
    await page.getByRole("heading", { name: "Very private" }).waitFor();
    await signIn(page.context(), "eve", host.origin);
    await comeBack(page);
    await page.getByText("No keys yet").waitFor();
    expect(await page.content()).not.toContain("Very private");
    await page.getByText("Plan starter").waitFor();
  });

  it("who have nothing left are told what ended and until when, and can use the page", async () => {
    await host.gateway.accounts.grant("acme", { id: "none", window: "week", amountMicro: -30_000_000 });
    const page = await visits.open(host.account, { user: "olga" });
    await page.getByText(/^This week used up until /).waitFor();
    await page.locator(".meter").first().getByText("Used up").waitFor();
    expect(await page.locator(".meter .label").first().textContent()).toBe("This week");
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Still works");
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("heading", { name: "Still works" }).waitFor();
  });

  it("who owe credits, or are suspended, are told so in the operator's words", async () => {
    await host.gateway.accounts.topUp("acme", { id: "in", credits: 1 });
    await host.gateway.accounts.deduct("acme", { id: "out", credits: 3.5 });
    await host.gateway.accounts.suspend("acme", { message: "Please pay invoice 17." });
    const page = await visits.open(host.account, { user: "olga" });
    await page.getByText("This account owes 2.50 credits.").waitFor();
    await page.getByText("Please pay invoice 17.").waitFor();
  });

  it("see what is held by calls in progress, and what was granted", async () => {
    await host.gateway.accounts.hold("acme", { id: "hold", credits: 0.75 });
    await host.gateway.accounts.grant("acme", { id: "more", window: "month", amountMicro: 20_000_000 });
    const page = await visits.open(host.account, { user: "olga" });
    await page.getByText("0.75 held by calls in progress").first().waitFor();
    await page.getByText("20 given on top").waitFor();
    expect(await page.getByRole("meter", { name: "This month" }).getAttribute("aria-valuetext")).toContain("held");
  });

  it("can manage keys while the ledger is away, and are told that it is", async () => {
    await host.gateway.keys.create({ account: "acme", name: "CI", credits: { day: 1 } });
    const page = await visits.open(`${host.account}#keys`, { user: "olga", allow: [/status of 503/] });
    await page.getByRole("heading", { name: "CI" }).waitFor();
    host.ledger.isAway = true;
    await comeBack(page);
    await page.getByText("The service cannot be reached").waitFor();
    await page.getByRole("button", { name: "Revoke CI" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoked and expired keys (1)").waitFor();
    host.ledger.isAway = false;
    await comeBack(page);
    await page.getByText("The service cannot be reached").waitFor({ state: "detached" });
  });

  it("are told when the gateway is being closed", async () => {
    const page = await visits.open(host.account, { user: "olga" });
    await settled(page);
    await host.gateway.close();
    await comeBack(page);
    await page.getByText("The service is being restarted.").waitFor();
  });

  it("are told at their first visit that the data cannot be reached, and see it as soon as it can", async () => {
    host.ledger.isAway = true;
    const page = await visits.open(host.account, { user: "olga", allow: [/status of 503/] });
    await page.getByRole("alert").waitFor();
    host.ledger.isAway = false;
    await comeBack(page);
    await page.getByRole("meter").first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

describeInBrowser("an account page that only shows", (visits) => {
  it("has no buttons that change something", async () => {
    const host = await startSampleHost({ account: { readOnly: true, tryModels: false } });
    try {
      await host.gateway.keys.create({ account: "acme", name: "CI" });
      const page = await visits.open(`${host.account}#keys`, { user: "olga" });
      await page.getByRole("heading", { name: "CI" }).waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
      await page.goto(`${host.account}#models`);
      await settled(page);
      expect(await page.getByRole("button").allTextContents()).toEqual(["Download CSV"]);
    } finally {
      await host.close();
    }
  });
});
