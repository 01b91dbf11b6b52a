import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";

describeInBrowser("keys on the account page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost({ account: { maxKeys: 5 } });
  });
  beforeEach(async () => {
    for (const { id, revokedAt } of await host.gateway.keys.list("acme")) {
      if (revokedAt === null) await host.gateway.keys.revoke(id);
    }
  });
  afterAll(() => host?.close());

  const open = async (user = "olga") => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const page = await visits.open(`${host.account}#keys`, { user, context });
    await page.getByText("keys in force").waitFor();
    return page;
  };
  const active = async () => (await host.gateway.keys.list("acme")).filter(({ revokedAt }) => revokedAt === null);

  it("are made with a name, an expiry, models, a cap and tags; the secret is shown once, and works", async () => {
    const page = await open();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Laptop");
    await page.getByText("Expiry, models, cap and tags").click();
    await page.getByLabel("openai/gpt-5-mini").check();
    await page.getByLabel("Expires").fill("2099-12-31");
    await page.getByLabel("Credits at most per month").fill("12.5");
    await page.getByLabel("Tags").fill("project=search\nteam = red");
    await page.getByRole("button", { name: "Make key" }).click();
    const secret = (await page.locator("dialog code").first().textContent()) ?? "";
    expect(secret).toMatch(/^sk-ig-/);
    await page.getByRole("button", { name: "Copy the key" }).click();
    await page.getByRole("button", { name: "Copied the key" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    const [key] = await active();
    expect(key).toMatchObject({
      ...{ name: "Laptop", models: ["openai/gpt-5-mini"], credits: { month: 12.5 } },
      tags: { project: "search", team: "red" },
      // The end of the day in the reader's time zone, which is Berlin's.
      expiresAt: Date.UTC(2099, 11, 31, 23),
    });
    await page.getByText("Use it at once").click();
    expect(await page.locator("dialog pre").textContent()).toContain(`Bearer ${secret}`);
    await page.getByRole("button", { name: "I have kept it" }).click();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("heading", { name: "Laptop" }).waitFor();
    await page.getByRole("meter", { name: "This month" }).waitFor();
    const models = await fetch(`${host.origin}/ai/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    expect(models.status).toBe(200);
    await page.getByRole("button", { name: "Edit Laptop" }).click();
    expect(await page.getByLabel("Expires").inputValue()).toBe("2099-12-31");
    expect(await page.getByLabel("Tags").inputValue()).toBe("project=search\nteam=red");
    await page.getByLabel("Name").fill("Desk");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Desk" }).waitFor();
    expect(await host.gateway.keys.get(key?.id ?? "")).toMatchObject({ name: "Desk", credits: { month: 12.5 } });
  });

  it("leave no secret when the page is left, reloaded, or come back to", async () => {
    const page = await open();
    const make = async () => {
      await page.getByRole("button", { name: "New key" }).click();
      await page.getByLabel("Name").fill("Short");
      await page.getByRole("button", { name: "Make key" }).click();
      return (await page.locator("dialog code").first().textContent()) ?? "";
    };
    const first = await make();
    await page.goto(`${host.origin}/`);
    await page.goBack();
    await page.getByText("keys in force").waitFor();
    expect(await page.content()).not.toContain(first);
    const second = await make();
    await page.reload();
    await page.getByText("keys in force").waitFor();
    expect(await page.content()).not.toContain(second);
    const third = await make();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(third);
    expect(await page.evaluate(() => JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }]))).toBe(
      "[null,{},{}]",
    );
  });

  it("are rotated with a time of grace, disabled, enabled and revoked, each after a question", async () => {
    const { id } = await host.gateway.keys.create({ account: "acme", name: "CI", credits: { day: 1 } });
    const page = await open();
    await page.getByRole("button", { name: "Disable CI" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await host.gateway.keys.get(id))?.enabled).toBe(true);
    await page.getByRole("button", { name: "Disable CI" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await page.getByText("Disabled").waitFor();
    expect((await host.gateway.keys.get(id))?.enabled).toBe(false);
    await page.getByRole("button", { name: "Enable CI" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
    await page.getByText("Active").waitFor();
    await page.getByRole("button", { name: "Rotate CI" }).click();
    await page.getByLabel("The old secret works for").selectOption("One hour");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await page.getByText("Your new key").waitFor();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByText(/^Ends /).waitFor();
    expect((await host.gateway.keys.get(id))?.revokedAt).toBeGreaterThan(Date.now() + 3_000_000);
    await page.getByRole("button", { name: "Revoke CI" }).first().click();
    await page.getByText("This cannot be undone.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText(/Revoked and expired keys \(\d+\)/).waitFor();
    // Other tests may have left revoked keys: their line may be there before this key is in it.
    await expect.poll(() => page.getByRole("button", { name: "Revoke CI" }).count()).toBe(1);
  });

  it("are made once by a double click", async () => {
    const page = await open();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Twice");
    await page.getByRole("button", { name: "Make key" }).dblclick({ noWaitAfter: true });
    await page.getByText("Your new key").waitFor();
    expect(await active()).toHaveLength(1);
  });

  it("say what is wrong with what was written, and make nothing", async () => {
    const page = await visits.open(`${host.account}#keys`, { user: "olga", allow: [/status of 400/] });
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("   ");
    await page.getByText("Expiry, models, cap and tags").click();
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByRole("alert").first().waitFor();
    expect(await page.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Name").fill("Good");
    await page.getByLabel("Tags").fill("no tag");
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByText("Write each tag as name=value").first().waitFor();
    expect(await active()).toEqual([]);
  });

  it("cannot be more than the account may have", async () => {
    for (let index = 0; index < 5; index++) await host.gateway.keys.create({ account: "acme", name: `Key ${index}` });
    const page = await visits.open(`${host.account}#keys`, { user: "olga" });
    await page.getByText("as many keys as it may have").waitFor();
    expect(await page.getByRole("button", { name: "New key" }).isDisabled()).toBe(true);
  });

  it("have names that are nothing but text", async () => {
    const name = "<img src=x onerror=alert(1)>";
    await host.gateway.keys.create({ account: "acme", name });
    const page = await open();
    await page.getByRole("heading", { name }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
  });

  it("come page by page", async () => {
    for (let index = 0; index < 60; index++) {
      const { id } = await host.gateway.keys.create({ account: "zenith", name: `Key ${index}` });
      if (index < 50) await host.gateway.keys.revoke(id);
    }
    const page = await visits.open(`${host.account}#keys`, { user: "eve" });
    await page.getByText("Revoked and expired keys (40)").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("Revoked and expired keys (50)").waitFor();
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
  });

  it("are copied by hand where the page may not copy", async () => {
    // Chromium says that it protects no window over plain HTTP.
    const allow = [/Cross-Origin-Opener-Policy header has been ignored/];
    const page = await visits.open(`${host.account.replace("127.0.0.1", "app.test")}#connect`, { user: "olga", allow });
    await page.getByRole("button", { name: "Copy Base URL" }).click();
    await page.getByRole("button", { name: "Selected" }).waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toMatch(/^http:\/\/app\.test:\d+\/ai\/v1$/);
  });

  it("are made by the keyboard alone, and focus is never lost", async () => {
    const page = await open();
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
    const tabTo = async (text: string) => {
      for (let step = 0; step < 40; step++) {
        await page.keyboard.press("Tab");
        if ((await focused()) === text) {
          const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
          return expect([text, outline]).toEqual([text, "solid"]);
        }
      }
      throw new Error(`Tab never comes to ${text}.`);
    };
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await focused()).toBe("API keys");
    await tabTo("New key");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("New key");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Typed");
    await page.keyboard.press("Enter");
    await page.getByText("Your new key").waitFor();
    await tabTo("Copy");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Copied the key" }).waitFor();
    await tabTo("I have kept it");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Typed" }).waitFor();
    await tabTo("Revoke");
    await page.keyboard.press("Enter");
    await page.getByText("This cannot be undone.").waitFor();
    await tabTo("Revoke");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await active()).toEqual([]);
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  });
});
