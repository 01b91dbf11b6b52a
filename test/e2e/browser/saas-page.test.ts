import { afterAll, beforeAll, expect, it } from "vitest";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { type RunningExample, runExample } from "../../meta/examples/run-example.js";
import { describeInBrowser } from "./support/describe-in-browser.js";

describeInBrowser("the page of examples/saas", (visits) => {
  const folder = new DatabaseFolder();
  let app: RunningExample;
  beforeAll(async () => {
    app = await runExample("saas/server.ts", { SQLITE_FILE: folder.file, DATABASE_URL: "" }, "source");
  });
  afterAll(async () => {
    expect(await app.interrupt()).toBe(0);
    folder.remove();
  });

  it("draws a picture, speaks a sentence, and says what each has cost", async () => {
    const page = await visits.open(new URL(app.baseURL).origin, { allow: [/status of 40[01]/] });
    const signUp = page.locator("form").filter({ has: page.getByRole("heading", { name: "Sign up" }) });
    await signUp.getByPlaceholder("Email").fill("ada@example.com");
    await signUp.getByPlaceholder("Password").fill("correct horse battery");
    await signUp.getByRole("button", { name: "Sign up" }).click();

    await page.getByPlaceholder("A sentence").fill("A boat at sunset");
    await page.getByRole("button", { name: "Draw" }).click();
    await page.getByText("0.1 credits").waitFor();
    const image = page.getByRole("img", { name: "What was drawn" });
    expect(await image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(64);

    await page.getByRole("button", { name: "Speak" }).click();
    await page.getByText("0.032 credits").waitFor();
    const seconds = () => page.locator("audio").evaluate((element) => (element as HTMLAudioElement).duration);
    await expect.poll(seconds).toBeCloseTo("A boat at sunset".length * 0.06);
    await page.getByText("session: 3.87 of 4 credits left").waitFor();

    await page.getByPlaceholder("A sentence").fill("My card is 4111 1111 1111 1111.");
    await page.getByRole("button", { name: "Draw" }).click();
    await page.getByRole("alert").getByText("payment card").waitFor();
  });
});
