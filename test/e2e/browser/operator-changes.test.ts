import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";

describeInBrowser("changes on the operator's page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
  });
  afterAll(() => host?.close());

  const open = (view: string, allow: readonly RegExp[] = []) =>
    visits.open(`${host.operator}#${view}`, { user: "root", allow });
  /** Fills the dialog, with a note, and sends it. */
  const send = async (page: Page, action: string, fields: Readonly<Record<string, string>> = {}, note = "why") => {
    const dialog = page.getByRole("dialog");
    for (const [label, value] of Object.entries(fields)) {
      const field = dialog.getByLabel(label, { exact: true });
      if ((await field.evaluate((one) => one.tagName)) === "SELECT") await field.selectOption(value);
      else await field.fill(value);
    }
    await dialog.getByLabel("Note").fill(note);
    await dialog.getByRole("button", { name: action, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const task = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const newest = async () => (await host.gateway.audit.list({ limit: 1 })).entries[0];
  const balance = () => host.gateway.accounts.balance("acme");

  describe("accounts", () => {
    it("are made, topped up once by two clicks, granted, deducted from and reset, each with who and why", async () => {
      const page = await open("accounts");
      await task(page, "New account");
      await send(page, "Create", { "Account ID": "org/new", Plan: "team" }, "signed the contract");
      await page.getByRole("heading", { name: "org/new", level: 1 }).waitFor();
      expect(await newest()).toMatchObject({
        ...{ action: "accounts.put", account: "org/new", by: "root@acme.test", note: "signed the contract" },
      });
      await page.goto(`${host.operator}#account/acme`);
      await task(page, "Top up acme");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Credits").fill("25.5");
      await dialog.getByLabel("Expires").fill("2099-12-31");
      await dialog.getByLabel("Note").fill("invoice 7");
      await dialog.getByRole("button", { name: "Top up" }).dblclick();
      await page.getByText("25.50", { exact: true }).waitFor();
      expect((await balance()).prepaid).toMatchObject({
        balanceMicro: 25_500_000,
        // Midnight in the reader's time zone, which is Berlin's.
        lots: [{ expiresAt: Date.UTC(2099, 11, 30, 23), leftMicro: 25_500_000 }],
      });
      await page.getByRole("cell", { name: "Top-up" }).first().waitFor();
      await task(page, "Grant acme");
      await send(page, "Grant", { Window: "week", Credits: "-3" }, "a mistake of May");
      expect((await balance()).windows.week.bonusMicro).toBe(-3_000_000);
      expect(await newest()).toMatchObject({
        action: "accounts.grant",
        by: "root@acme.test",
        note: "a mistake of May",
      });
      await task(page, "Deduct acme");
      await send(page, "Deduct", { Credits: "30" }, "chargeback");
      await page.getByText("Owes").waitFor();
      expect((await balance()).prepaid?.overdrawnMicro).toBe(4_500_000);
      await task(page, "Reset acme");
      await send(page, "Reset", { Window: "month" }, "outage");
      expect(await newest()).toMatchObject({ action: "accounts.reset", given: { windows: ["month"] }, note: "outage" });
    });

    it("get other terms, are suspended and resumed", async () => {
      const page = await open("account/zenith");
      await task(page, "Change terms zenith");
      await send(page, "Change terms", { Plan: "team", Models: "openai/*\nqwen/*", "Price factor": "0.8" });
      await page.getByText("openai/*, qwen/*").waitFor();
      expect(await host.gateway.accounts.get("zenith")).toMatchObject({
        ...{ plan: "team", models: ["openai/*", "qwen/*"], priceFactor: 0.8 },
      });
      await task(page, "Suspend zenith");
      await send(page, "Suspend", { Message: "Pay your bill." }, "unpaid");
      await page.getByText("Pay your bill.").waitFor();
      expect(await newest()).toMatchObject({ action: "accounts.suspend", note: "unpaid" });
      await task(page, "Resume zenith");
      await send(page, "Resume");
      await page.getByRole("button", { name: "Suspend zenith" }).waitFor();
      expect((await host.gateway.accounts.get("zenith"))?.status).toBe("active");
    });

    it("keep what somebody else has changed meanwhile", async () => {
      const page = await open("account/zenith", [/412/]);
      await task(page, "Change terms zenith");
      await host.gateway.accounts.update("zenith", { metadata: { company: "Zenith Pictures" } });
      await page.getByRole("dialog").getByRole("button", { name: "Change terms" }).click();
      await page.getByRole("alert").getByText("Somebody else has changed it").waitFor();
      expect((await host.gateway.accounts.get("zenith"))?.metadata).toEqual({ company: "Zenith Pictures" });
    });

    it("say what is wrong with a form, at its field, and change nothing", async () => {
      const page = await open("account/acme", [/400/]);
      await task(page, "Top up acme");
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: "Top up" }).click();
      expect(await dialog.getByLabel("Credits").evaluate((one: HTMLInputElement) => one.validity.valueMissing)).toBe(
        true,
      );
      await dialog.getByLabel("Credits").fill("-1");
      await dialog.getByRole("button", { name: "Top up" }).click();
      await dialog.getByRole("alert").first().waitFor();
      expect(await dialog.getByLabel("Credits").getAttribute("aria-invalid")).toBe("true");
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
    });
  });

  it("keys are moved, disabled, enabled and revoked", async () => {
    const key = await host.gateway.keys.create({ account: "acme", name: "Laptop" });
    const page = await open("account/acme");
    await task(page, "Disable Laptop");
    await send(page, "Disable");
    await task(page, "Enable Laptop");
    await send(page, "Enable");
    expect(await host.gateway.keys.get(key.id)).toMatchObject({ enabled: true });
    await task(page, "Move Laptop");
    await send(page, "Move", { "To the account": "zenith" }, "merged");
    await page.getByRole("rowheader", { name: "Laptop" }).waitFor({ state: "detached" });
    expect(await newest()).toMatchObject({ account: "acme", movedTo: "zenith", by: "root@acme.test", note: "merged" });
    await page.goto(`${host.operator}#account/zenith`);
    await task(page, "Revoke Laptop");
    await send(page, "Revoke", {}, "leaked");
    await page.getByText("Revoked", { exact: true }).waitFor();
    expect((await host.gateway.keys.get(key.id))?.revokedAt).not.toBeNull();
    expect(await page.getByRole("button", { name: "Move Laptop" }).count()).toBe(0);
  });

  it("plans are made, checked before they apply, edited as fields and as text, and removed", async () => {
    const page = await open("plans");
    await task(page, "New plan");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("ID", { exact: true }).fill("gold");
    await dialog.getByLabel("Models").fill("openai/*\nqwen/*");
    await dialog.getByLabel("Credits, Month").fill("500");
    await dialog.getByRole("button", { name: "Check" }).click();
    await dialog.getByText("Lets in 6 models").waitFor();
    expect(await host.gateway.plans.get("gold")).toBeUndefined();
    await send(page, "Apply", {}, "for large customers");
    await page.getByRole("rowheader", { name: "gold" }).waitFor();
    expect(await host.gateway.plans.get("gold")).toMatchObject({
      models: ["openai/*", "qwen/*"],
      credits: { month: 500 },
    });
    expect(await newest()).toMatchObject({ action: "plans.put", plan: "gold", note: "for large customers" });

    await task(page, "Edit gold");
    await dialog.getByText("All as JSON").click();
    const text = dialog.getByLabel("JSON", { exact: true });
    await text.fill('{ "id": "gold", "models": "all" }');
    await dialog.getByRole("button", { name: "Check" }).click();
    await dialog.getByRole("alert").getByText("models").waitFor();
    await text.fill("{");
    await dialog.getByText("That is no JSON object.").first().waitFor();
    await text.fill('{ "id": "gold", "models": ["*"], "rates": { "requestsPerMinute": 60 } }');
    await dialog.getByRole("button", { name: "Check" }).click();
    await dialog.getByText('{"requestsPerMinute":60}').waitFor();
    await dialog.getByRole("button", { name: "← Edit" }).click();
    await dialog.getByRole("button", { name: "Check" }).click();
    await send(page, "Apply");
    expect(await host.gateway.plans.get("gold")).toMatchObject({ models: ["*"], rates: { requestsPerMinute: 60 } });

    await task(page, "Remove gold");
    await send(page, "Remove", {}, "not sold");
    await page.getByRole("rowheader", { name: "gold" }).waitFor({ state: "detached" });
    expect(await host.gateway.plans.get("gold")).toBeUndefined();
  });

  it("a plan that somebody else has changed meanwhile stays as it is", async () => {
    const page = await open("plans", [/412/]);
    await task(page, "Edit starter");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Credits, Month").fill("7");
    await dialog.getByRole("button", { name: "Check" }).click();
    await host.gateway.plans.put({ id: "starter", models: ["openai/*"], credits: { session: 1, week: 2, month: 6 } });
    await dialog.getByRole("button", { name: "Apply" }).click();
    await dialog.getByRole("alert").getByText("Somebody else has changed it").waitFor();
    expect((await host.gateway.plans.get("starter"))?.credits?.month).toBe(6);
  });

  it("models get other prices and aliases, go out of service and back, and the options count again", async () => {
    const page = await open("models");
    await task(page, "Edit openai/gpt-5-mini");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Price, Output (per million tokens)").fill("2.5");
    await dialog.getByLabel("Aliases").fill("gpt-latest");
    await dialog.getByRole("button", { name: "Check" }).click();
    await dialog.getByRole("heading", { name: "aliases" }).waitFor();
    await send(page, "Apply", {}, "dearer");
    await page.getByText("“gpt-latest”").waitFor();
    expect((await host.gateway.models.get("openai/gpt-5-mini"))?.model?.price.output).toBe(2.5);
    expect(await newest()).toMatchObject({ action: "models.put", by: "root@acme.test", note: "dearer" });
    await task(page, "Disable openai/gpt-5-mini");
    await send(page, "Disable");
    await page.getByText("Out of service").waitFor();
    expect((await host.gateway.models.get("openai/gpt-5-mini"))?.model).toBeUndefined();
    await task(page, "Enable openai/gpt-5-mini");
    await send(page, "Enable");
    await task(page, "Remove openai/gpt-5-mini");
    await send(page, "Remove");
    await page.getByText("“gpt-latest”").waitFor({ state: "detached" });
    expect(await host.gateway.models.get("openai/gpt-5-mini")).toMatchObject({
      source: "options",
      model: { price: { output: 2 } },
    });

    await task(page, "New model");
    await dialog.getByText("All as JSON").click();
    await dialog.getByLabel("JSON", { exact: true }).fill(
      JSON.stringify({
        ...{ id: "acme/new", type: "chat", contextLength: 1000, price: { input: 1, output: 2 } },
        upstream: { provider: "nobody", model: "x" },
      }),
    );
    await dialog.getByRole("button", { name: "Check" }).click();
    await dialog.getByRole("alert").getByText("nobody").waitFor();
    const json = dialog.getByLabel("JSON", { exact: true });
    await json.fill((await json.inputValue()).replace("nobody", "fake"));
    await dialog.getByRole("button", { name: "Check" }).click();
    await send(page, "Apply");
    await page.getByRole("rowheader", { name: "acme/new" }).waitFor();
  });

  it("are made by keyboard alone, and focus comes back", async () => {
    const page = await open("account/acme");
    await page.getByRole("button", { name: "Grant acme" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    // The window of the grant has the focus first.
    await page.keyboard.press("Tab");
    await page.keyboard.type("2");
    await page.keyboard.press("Tab");
    await page.keyboard.type("by keys");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await newest()).toMatchObject({
      action: "accounts.grant",
      note: "by keys",
      given: { amountMicro: 2_000_000 },
    });
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Grant acme");
    await page.getByRole("status").getByText("Done").waitFor({ state: "attached" });
  });

  it("shows hostile names as the text that they are", async () => {
    const name = '<img src=x onerror="document.title=1">\u202Egnp.exe';
    const id = '"><script>document.title=2</script>';
    await host.gateway.accounts.put({ id, plan: "team", metadata: { [name]: name } });
    await host.gateway.keys.create({ account: id, name: name.repeat(4).slice(0, 200), tags: { member: name } });
    await host.gateway.accounts.topUp(id, { id: name, credits: 1, note: name, by: name });
    const page = await visits.open(host.operator, { user: "root", width: 320 });
    for (const view of ["accounts", `account/${encodeURIComponent(id)}`, "audit"]) {
      await page.goto(`${host.operator}#${view}`);
      await page.locator("main .card").first().waitFor();
      await page.getByText("onerror").first().waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
    expect(await page.title()).not.toMatch(/^[12]$/);
    await page.goto(`${host.operator}#accounts`);
    await page.getByRole("link", { name: id }).click();
    await page.getByRole("heading", { name: id, level: 1 }).waitFor();
  });
});
