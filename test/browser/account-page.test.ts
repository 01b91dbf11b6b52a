import type { Page } from "playwright-core";
import { afterAll, beforeAll, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { expectAccessible, expectFits, keepPicture, schemes, widths } from "./support/looks.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";

const views = ["overview", "keys", "usage", "requests", "models", "connect", "members", "statement"];

describeInBrowser("the account page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
    await liveAMonth(host);
  });
  afterAll(() => host?.close());

  const settled = async (page: Page) => {
    await page.locator("main .card").first().waitFor();
    await page.locator(".skeleton").waitFor({ state: "detached" });
  };

  it.each(schemes.flatMap((scheme) => widths.map((width) => ({ scheme, width }))))(
    "can be read by all and fits: $scheme, $width px",
    async ({ scheme, width }) => {
      const page = await visits.open(host.account, { user: "olga", scheme, width });
      for (const view of views) {
        await page.goto(`${host.account}#${view}`);
        await settled(page);
        await keepPicture(page, `${view}-${scheme}-${width}`);
        await expectAccessible(page);
        await expectFits(page);
      }
    },
  );
});
