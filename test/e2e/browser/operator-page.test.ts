import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { expectAccessible, expectFits, keepPicture, schemes, widths } from "./support/looks.js";
import { runADay } from "./support/run-a-day.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";
import { settled } from "./support/settled.js";
import { shifts } from "./support/shifts.js";

const looks = schemes.flatMap((scheme) => widths.map((width) => ({ scheme, width })));
const views = [
  "today",
  "accounts",
  "account/acme",
  "plans",
  "models",
  "targets",
  "requests",
  "live",
  "ledger",
  "audit",
];

describeInBrowser("the operator's page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
    const { backend } = await liveAMonth(host);
    await runADay(host, backend.secret);
  });
  afterAll(() => host?.close());

  it.each(looks)("can be read by all and fits: $scheme, $width px", async ({ scheme, width }) => {
    const page = await visits.open(host.operator, { user: "root", scheme, width });
    for (const view of views) {
      await page.goto(`${host.operator}#${view}`);
      await settled(page);
      await keepPicture(page, `operator-${view.replace("/", "-")}-${scheme}-${width}`);
      await expectAccessible(page);
      await expectFits(page);
    }
  });

  it.each(looks)("can be read by all and fits, in its dialogs: $scheme, $width px", async ({ scheme, width }) => {
    const page = await visits.open(host.operator, { user: "root", scheme, width });
    for (const [view, button, name] of [
      ["account/acme", "Top up acme", "top-up"],
      ["account/acme", "Change terms acme", "terms"],
      ["account/acme", "Move CI", "move"],
      ["accounts", "New account", "account"],
      ["plans", "Edit team", "plan"],
      ["models", "Edit qwen/qwen3-coder", "model"],
      ["models", "Disable qwen/qwen3-coder", "disable"],
    ] as const) {
      await page.goto(`${host.operator}#${view}`);
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      await keepPicture(page, `operator-dialog-${name}-${scheme}-${width}`);
      await expectAccessible(page);
      await expectFits(page);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  it.each(["requests", "audit"])("opens a row of the %s, with all that is known of it", async (view) => {
    const page = await visits.open(`${host.operator}#${view}`, { user: "root" });
    const row = page.getByRole("row").filter({ hasText: view === "audit" ? "models.put" : "200" });
    await row.first().getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await expectAccessible(page);
    const shown = (await dialog.textContent()) ?? "";
    if (view === "requests") expect(shown).toMatch(/req_.*Account.*fake\/upstream-.*completed/s);
    else expect(shown).toMatch(/models\.put.*root@acme\.test.*new list price.*qwen-latest/s);
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BUTTON");
  });

  it("shows what images, sound and characters cost, and no context where there is none", async () => {
    const page = await visits.open(`${host.operator}#models`, { user: "root" });
    const cells = (id: string) =>
      page
        .getByRole("row")
        .filter({ has: page.getByRole("rowheader", { name: id }) })
        .getByRole("cell")
        .allTextContents();
    await page.getByRole("rowheader", { name: "openai/gpt-image-1" }).waitFor();
    const image = ["An image high 1024x1024 0.167", "An image 0.25"].join("");
    expect((await cells("openai/gpt-image-1")).slice(1, 6)).toEqual(["–", "–", "–", image, "–"]);
    expect(await cells("openai/tts-1")).toContain("A million characters 15.00");
    expect(await cells("openai/whisper-1")).toContain("A minute of audio 0.006");
  });

  it("shows today in figures, a chart and its table", async () => {
    const page = await visits.open(host.operator, { user: "root" });
    const figure = (name: string) => page.getByRole("region", { name, exact: true }).locator(".figure").textContent();
    await page.getByRole("heading", { name: "By hour" }).waitFor();
    expect(Number(await figure("Calls"))).toBeGreaterThanOrEqual(12);
    expect(Number(await figure("Errors"))).toBeGreaterThanOrEqual(1);
    expect(await figure("First output")).toMatch(/^\d+ ms$/);
    await page.locator("label", { hasText: "Credits" }).click();
    await page.getByRole("img", { name: "Credits by the hour of today" }).waitFor();
    await page.getByText("Show as table").click();
    await page.getByRole("columnheader", { name: "Margin" }).first().waitFor();
    await page.getByRole("rowheader", { name: "openai/gpt-5-mini" }).waitFor();
  });

  it("shows today without waiting for anything else, and moves nothing afterwards", async () => {
    const page = await visits.open(host.operator, { user: "root" });
    await page.getByRole("heading", { name: "By hour" }).waitFor();
    expect(await page.evaluate(shifts)).toEqual([]);
    const requests = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
    );
    // The files and the data of the first view, each once.
    expect(requests.filter((path) => path.includes("/assets/")).length).toBeLessThanOrEqual(3);
    expect(
      requests
        .filter((path) => path.includes("/api/"))
        .map((path) => path.split("/").at(-1))
        .toSorted(),
    ).toEqual(["health", "overview"]);
  });

  it("finds accounts, requests and changes by their filters, which stand in the address", async () => {
    const page = await visits.open(`${host.operator}#accounts`, { user: "root" });
    await page.getByRole("searchbox", { name: "Search" }).fill("cobalt");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["cust_1003Cobalt & Sons"]);
    expect(page.url()).toContain("#accounts/query%3Dcobalt");
    await page.getByRole("link", { name: "Clear" }).click();
    await page.getByLabel("Status").selectOption("suspended");
    await expect.poll(() => page.getByRole("rowheader").count()).toBe(1);
    await page.getByLabel("Plan").selectOption("team");
    await page.getByText("No account is like that").waitFor();
    await page.goBack();
    await page.getByRole("rowheader", { name: "cust_1003" }).waitFor();

    await page.goto(`${host.operator}#requests`);
    await page.getByLabel("Result").selectOption("4xx,5xx");
    await page.getByText("model_not_found").first().waitFor();
    await expect.poll(() => page.locator("tbody .badge.good").count()).toBe(0);
    await page.goto(`${host.operator}#audit`);
    await page.getByLabel("By", { exact: true }).fill("stripe");
    await page.getByRole("button", { name: "Filter" }).click();
    await expect.poll(() => page.getByRole("rowheader").count()).toBe(5);
  });

  it("loads further pages, and gives lists as files", async () => {
    const page = await visits.open(`${host.operator}#requests`, { user: "root" });
    await page.getByRole("rowheader").first().waitFor();
    const before = await page.getByRole("rowheader").count();
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => page.getByRole("rowheader").count()).toBeGreaterThan(before);
    for (const [view, file] of [
      ["requests", "requests.csv"],
      ["accounts", "accounts.csv"],
      ["targets", "targets-month.csv"],
      ["audit", "audit.csv"],
      ["account/acme", "journal.csv"],
    ] as const) {
      await page.goto(`${host.operator}#${view}`);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download CSV" }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(file);
    }
  });

  it("shows targets of other times, and links plans and accounts to what is theirs", async () => {
    const page = await visits.open(`${host.operator}#targets`, { user: "root" });
    await page.getByRole("rowheader", { name: "fake/upstream-openai/gpt-5-mini" }).waitFor();
    expect(await page.getByText("Closed").count()).toBeGreaterThanOrEqual(5);
    await page.getByText("Last month").click();
    await page.getByRole("rowheader", { name: "fake/upstream-openai/gpt-5-mini" }).waitFor();
    await page.goto(`${host.operator}#plans`);
    await page.getByRole("link", { name: "team" }).click();
    await page.getByRole("link", { name: "acme" }).click();
    await page.getByRole("heading", { name: "acme", level: 1 }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "Audit trail" }).click();
    await page.getByText("goodwill").or(page.getByText("outage of Tuesday")).first().waitFor();
  });

  it("tells of a ledger that is away, and when it is back", async () => {
    host.ledger.isAway = true;
    const page = await visits.open(`${host.operator}#ledger`, { user: "root" });
    try {
      await fetch(`${host.origin}/admin/ai/api/account?id=acme`, {
        headers: { cookie: "user=root", "sec-fetch-site": "same-origin" },
      });
      await page.reload();
      await page.getByText("The ledger does not answer").waitFor();
      await page.getByText("Away", { exact: true }).waitFor();
      await page.goto(`${host.operator}#account/acme`);
      await page.getByText("What is left cannot be read").waitFor();
      await expectAccessible(page);
    } finally {
      host.ledger.isAway = false;
    }
    await fetch(`${host.origin}/admin/ai/api/account?id=acme`, {
      headers: { cookie: "user=root", "sec-fetch-site": "same-origin" },
    });
    await page.goto(`${host.operator}#ledger`);
    await page.reload();
    await page.getByText("Answers", { exact: true }).waitFor();
  });

  it("lists what is being served, and what has failed", async () => {
    const { backend } = { backend: await host.gateway.keys.create({ account: "zenith" }) };
    const held: (() => void)[] = [];
    host.upstream.replyOnce((_request, response) => {
      held.push(() => {
        response.writeHead(500, { "content-type": "application/json" });
        response.end("{}");
      });
    });
    const calling = fetch(`${host.origin}/ai/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${backend.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hello!" }] }),
    });
    calling.catch(() => {});
    const page = await visits.open(`${host.operator}#live`, { user: "root" });
    await page.getByRole("heading", { name: "1 in progress" }).waitFor();
    await page.getByRole("rowheader", { name: "zenith" }).waitFor();
    await page.getByText("Calling").waitFor();
    for (const end of held) end();
    await (await calling).text();
    await page.reload();
    await page.getByText("Nothing is being served").waitFor();
    await page.locator("tbody button").first().click();
    expect(await page.getByRole("dialog").textContent()).toContain("zenith");
  });
});
