import { afterAll, beforeAll, it } from "vitest";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { expectAccessible, expectFits, keepPicture, schemes, widths } from "./support/looks.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";

describeInBrowser("the account page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
    await liveAMonth(host);
  });
  afterAll(() => host?.close());

  it.each(schemes.flatMap((scheme) => widths.map((width) => ({ scheme, width }))))(
    "can be read by all and fits: $scheme, $width px",
    async ({ scheme, width }) => {
      const page = await visits.open(host.account, { user: "olga", scheme, width });
      await page.getByRole("meter").first().waitFor();
      await expectAccessible(page);
      await expectFits(page);
      await keepPicture(page, `account-${scheme}-${width}`);
    },
  );
});
