import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { expectAccessible, expectFits, keepPicture, schemes, widths } from "./support/looks.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";
import { settled } from "./support/settled.js";
import { shifts } from "./support/shifts.js";

const looks = schemes.flatMap((scheme) => widths.map((width) => ({ scheme, width })));

describeInBrowser("the account page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
    await liveAMonth(host);
  });
  afterAll(() => host?.close());

  it.each(looks)("can be read by all and fits, for an owner: $scheme, $width px", async ({ scheme, width }) => {
    const page = await visits.open(host.account, { user: "olga", scheme, width });
    for (const view of ["overview", "keys", "usage", "requests", "models", "connect", "members", "statement"]) {
      await page.goto(`${host.account}#${view}`);
      await settled(page);
      await keepPicture(page, `${view}-${scheme}-${width}`);
      await expectAccessible(page);
      await expectFits(page);
    }
  });

  it.each(looks)("can be read by all and fits, in its dialogs: $scheme, $width px", async ({ scheme, width }) => {
    const page = await visits.open(`${host.account}#keys`, { user: "olga", scheme, width });
    for (const [button, name] of [
      ["New key", "make"],
      ["Edit CI", "edit"],
      ["Rotate CI", "rotate"],
      ["Disable CI", "disable"],
      ["Revoke CI", "revoke"],
    ] as const) {
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("dialog").waitFor();
      if (name === "make") await page.getByText("Expiry, models, cap and tags").click();
      await keepPicture(page, `dialog-${name}-${scheme}-${width}`);
      await expectAccessible(page);
      await expectFits(page);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  it.each(looks)("can be read by all and fits, with nothing yet: $scheme, $width px", async ({ scheme, width }) => {
    const page = await visits.open(host.account, { user: "eve", scheme, width });
    for (const view of ["overview", "keys", "usage", "requests", "members", "statement"]) {
      await page.goto(`${host.account}#${view}`);
      await settled(page);
      await keepPicture(page, `empty-${view}-${scheme}-${width}`);
      await expectAccessible(page);
      await expectFits(page);
    }
  });

  it("teaches what to do where there is nothing yet", async () => {
    const page = await visits.open(host.account, { user: "eve" });
    await page.getByRole("link", { name: "Make a key" }).click();
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByText("Nothing was used in this time").waitFor();
    await page.getByRole("link", { name: "Requests" }).click();
    await page.getByText("No requests yet").waitFor();
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByText("No members yet").waitFor();
  });

  it("names each view in the title and in the heading, and keeps it in the address", async () => {
    const page = await visits.open(host.account, { user: "olga" });
    for (const name of ["API keys", "Usage", "Requests", "Models", "Connect", "Members", "Statement", "Overview"]) {
      await page.getByRole("navigation").getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await page.title()).toBe(`${name} · Acme AI`);
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    }
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Statement" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Statement" }).waitFor();
  });

  it("shows data at its first paint, and moves nothing afterwards", async () => {
    const page = await visits.open(host.account, { user: "olga" });
    await settled(page);
    const moved = await page.evaluate(shifts);
    expect(moved).toEqual([]);
    const requests = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
    );
    // The files and the data of the first view, each once: also what was asked for before the script was there.
    expect(requests).toContainEqual(expect.stringMatching(/\/api\/me$/));
    expect(requests).toEqual([...new Set(requests)]);
  });
});
