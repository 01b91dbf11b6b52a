import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";
import { settled } from "./support/settled.js";

describeInBrowser("usage on the account page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
    await liveAMonth(host);
    await host.gateway.budgets.put("acme", { tag: "member", value: "=1+2", credits: { month: 1 } });
  });
  afterAll(() => host?.close());

  const open = async (view: string, user = "olga") => {
    const page = await visits.open(`${host.account}#${view}`, { user });
    await settled(page);
    return page;
  };
  const saved = async (page: Page, button: ReturnType<Page["getByRole"]>) => {
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  };
  const totalOf = async (page: Page) => Number(await page.locator("dl.sums dd").first().textContent());

  it("is shown by day and by hour, for each range, in the reader's time zone", async () => {
    const page = await open("usage");
    const totals: number[] = [];
    for (const [range, bars] of [
      ["24 hours", 24],
      ["7 days", 7],
      ["30 days", 30],
      ["90 days", 90],
    ] as const) {
      await page.getByText(range, { exact: true }).click();
      await page.waitForFunction(
        (count) => document.querySelector(".plot svg")?.getAttribute("viewBox") === `0 0 ${count} 1`,
        bars,
      );
      await settled(page);
      totals.push(await totalOf(page));
    }
    expect(totals).toEqual(totals.toSorted((one, other) => one - other));
    expect(totals[0]).toBeGreaterThan(0);
    await page.getByText("Times in Europe/Berlin").waitFor();
    const records = await host.gateway.usage({ where: { account: "acme" } });
    expect(totals[3]).toBeCloseTo(records.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0) / 1e6, 1);
  });

  it("is shown by model, key, what paid and any tag, as credits, requests and tokens", async () => {
    const page = await open("usage");
    await page.getByRole("rowheader", { name: "anthropic/claude-sonnet-4.5" }).waitFor();
    const by = page.getByLabel("By", { exact: true });
    for (const [option, found] of [
      ["Key", "Ada’s laptop"],
      ["What paid", "Plan"],
      ["Tag project", "search"],
      ["Tag member", "ada"],
    ] as const) {
      await by.selectOption(option);
      await page.getByRole("rowheader", { name: found, exact: true }).waitFor();
    }
    await by.selectOption("Another tag …");
    await page.getByLabel("Name of the tag").fill("project");
    await page.getByRole("rowheader", { name: "research" }).waitFor();
    for (const measure of ["Requests", "Tokens", "Credits"]) {
      await page.getByRole("group", { name: "Show" }).getByText(measure).click();
      await page.getByRole("img", { name: new RegExp(`^${measure} from`) }).waitFor();
    }
  });

  it("is a chart, a table of the same figures, and a file", async () => {
    const page = await open("usage");
    await page.getByText("Show as table").click();
    const rows = page.getByRole("group", { name: /^Credits from/ }).locator("tbody tr");
    expect(await rows.count()).toBe(30);
    const { name, text } = await saved(page, page.getByRole("button", { name: "Download CSV" }).first());
    expect(name).toBe("usage-credits.csv");
    const lines = text.trimEnd().split("\r\n");
    expect(lines[0]).toMatch(/^\ufeffTime,anthropic\/claude-sonnet-4\.5,/);
    expect(lines).toHaveLength(31);
    await page.locator(".plot svg").hover({ position: { x: 5, y: 20 } });
    await page.locator(".tip").waitFor();
    const groups = await saved(page, page.getByRole("button", { name: "Download CSV" }).last());
    expect(groups.text).toContain("openai/gpt-5-mini,");
  });

  it("lists requests with the reason of each refusal, in pages and as a file", async () => {
    const page = await open("requests");
    await page.getByText("There is no such model").waitFor();
    const rows = page.locator("tbody tr");
    const before = await rows.count();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.waitForFunction((count) => document.querySelectorAll("tbody tr").length > count, before);
    const { text } = await saved(page, page.getByRole("button", { name: "Download CSV" }));
    expect(text.trimEnd().split("\r\n")).toHaveLength((await rows.count()) + 1);
    expect(text).toContain(",model_not_found,");
    await page.getByText("Refused only").click();
    await page.getByText("Served").first().waitFor({ state: "detached" });
    await page.getByText("There is no such model").waitFor();
  });

  it("has what a member uses and may, for the owner", async () => {
    await host.gateway.budgets.put("acme", { tag: "member", value: "＝3+4", credits: { month: 1 } });
    const page = await open("members");
    await page.getByRole("meter", { name: "This month, ada" }).waitFor();
    expect(await page.getByRole("meter", { name: "Today, bob" }).getAttribute("aria-valuemax")).toBe("2");
    const { text } = await saved(page, page.getByRole("button", { name: "Download CSV" }));
    expect(text).toMatch(/\r\nada,\d+,/);
    // No spreadsheet takes a name for a formula.
    expect(text).toContain("\r\n'=1+2,0,0\r\n");
    expect(text).toContain("\r\n'＝3+4,0,0\r\n");
  });

  it("adds up in the statement of each month", async () => {
    const page = await open("statement");
    await page.getByRole("rowheader", { name: "Balance at the end" }).waitFor();
    const amount = async (name: string) =>
      Number(
        await page
          .getByRole("row")
          .filter({ has: page.getByRole("rowheader", { name, exact: true }) })
          .locator("td")
          .textContent(),
      );
    const parts = await Promise.all(
      ["Balance at the beginning", "Bought", "Used", "Expired", "Taken back"].map(amount),
    );
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(await amount("Balance at the end"), 2);
    const { name, text } = await saved(page, page.getByRole("button", { name: "Download CSV" }));
    expect(name).toMatch(/^statement-\d{4}-\d{2}\.csv$/);
    expect(text).toContain("Bought,");
    await page.getByLabel("Month").selectOption({ index: 11 });
    await settled(page);
    expect(await amount("Bought")).toBe(0);
  });

  it("has models with their prices, as a file too", async () => {
    const page = await open("models");
    await page.getByRole("rowheader", { name: "openai/gpt-5-mini" }).waitFor();
    const { text } = await saved(page, page.getByRole("button", { name: "Download CSV" }));
    expect(text).toContain("openai/gpt-5-mini,Chat,0.25,0.025,2,,400000,8192");
    const parts = "An image high 1024x1024 0.167; An image 0.25";
    expect(text).toMatch(new RegExp(`^openai/gpt-image-1,Images,,,,${parts},,\\r?$`, "m"));
    const row = (id: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: id }) });
    expect(await row("openai/tts-1").getByRole("cell").allTextContents()).toEqual([
      "Speech",
      "–",
      "–",
      "–",
      "A million characters 15.00",
      "–",
      "–",
      "",
    ]);
    expect(await row("openai/whisper-1").textContent()).toContain("A minute of audio 0.006");
  });
});
