/**
 * Makes the pictures of the docs, with sample data: `npm run screenshots`. Each is a page in light or dark, at most 150 KB.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launchChromium } from "./support/chromium.js";
import { runADay } from "./support/run-a-day.js";
import { startSampleHost } from "./support/sample-host.js";
import { liveAMonth } from "./support/sample-month.js";
import { settled } from "./support/settled.js";
import { Visits } from "./support/visits.js";

const folder = fileURLToPath(new URL("../../../docs/pages/", import.meta.url));
const mostBytes = 150 * 1024;

/** By the name of the file: who looks at what. */
const pictures = [
  { name: "account", user: "olga", view: "overview" },
  { name: "account-keys", user: "olga", view: "keys" },
  { name: "account-usage", user: "olga", view: "usage" },
  { name: "operator", user: "root", view: "today" },
  { name: "operator-accounts", user: "root", view: "accounts" },
  { name: "operator-account", user: "root", view: "account/acme" },
  { name: "operator-models", user: "root", view: "models" },
] as const;

const host = await startSampleHost();
const browser = await launchChromium();
const visits = new Visits();
visits.browser = browser;
mkdirSync(folder, { recursive: true });
try {
  const { backend } = await liveAMonth(host);
  await runADay(host, backend.secret);
  for (const { name, user, view } of pictures) {
    for (const scheme of ["light", "dark"] as const) {
      const page = await visits.open(`${user === "root" ? host.operator : host.account}#${view}`, {
        user,
        scheme,
        width: 1280,
      });
      await settled(page);
      const bytes = await page.screenshot({ clip: { x: 0, y: 0, width: 1280, height: 900 } });
      if (bytes.length > mostBytes) throw new Error(`${name}-${scheme}.png is larger than 150 KB.`);
      writeFileSync(`${folder}${name}-${scheme}.png`, bytes);
    }
  }
  const problems = await visits.end();
  if (problems.length > 0) throw new Error(problems.join("\n"));
} finally {
  await browser.close();
  await host.close();
}
