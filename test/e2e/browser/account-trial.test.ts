import { afterAll, beforeAll, expect, it } from "vitest";
import { chatChunks, createGate, eventStream, honestChat } from "../../../src/testing.js";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { type SampleHost, startSampleHost } from "./support/sample-host.js";

describeInBrowser("a trial on the account page", (visits) => {
  let host: SampleHost;
  beforeAll(async () => {
    host = await startSampleHost();
  });
  afterAll(() => host?.close());

  it("streams a real answer of the chosen model, and shows what it cost", async () => {
    const gate = createGate();
    host.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
    const page = await visits.open(`${host.account}#models`, { user: "olga" });
    await page.getByRole("button", { name: "Try qwen/qwen3-coder" }).click();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("question");
    await page.keyboard.type("Say hello.");
    await page.getByRole("button", { name: "Send" }).click();
    gate.step(3);
    await page.locator(".answer", { hasText: /^Hello$/ }).waitFor();
    gate.step();
    await page.locator(".answer", { hasText: /^Hello wide$/ }).waitFor();
    gate.open();
    await page.locator(".answer", { hasText: /^Hello wide world$/ }).waitFor();
    const cost = await page.getByText(/^Cost [\d.]+ credits$/).textContent();
    const { entries } = await host.gateway.accounts.history("acme");
    expect(entries[0]?.tags).toMatchObject({ model: "qwen/qwen3-coder", keyId: "account-page" });
    expect(Number(/[\d.]+/.exec(cost ?? "")?.[0])).toBeCloseTo((entries[0]?.amountMicro ?? 0) / 1e6, 6);
    expect(host.upstream.lastRequest.json.messages).toEqual([{ role: "user", content: "Say hello." }]);
  });

  it("stops when the reader wants it, and when the reader leaves", async () => {
    const page = await visits.open(`${host.account}#models`, { user: "olga" });
    for (const leave of [
      () => page.getByRole("button", { name: "Stop" }).click(),
      () => page.getByRole("navigation").getByRole("link", { name: "Overview" }).click(),
    ]) {
      const gate = createGate();
      host.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
      await page.getByLabel("Message").fill("Go on for ever.");
      await page.getByRole("button", { name: "Send" }).click();
      gate.step(3);
      await page.locator(".answer", { hasText: /^Hello$/ }).waitFor();
      const { lastRequest } = host.upstream;
      await leave();
      expect(await lastRequest.closed).toBe("broken");
    }
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("says why it is refused, and why an answer breaks off", async () => {
    await host.gateway.accounts.grant("zenith", { id: "less", window: "month", amountMicro: -5_000_000 });
    const refused = await visits.open(`${host.account}#models`, { user: "eve", allow: [/status of 429/] });
    await refused.getByLabel("Message").fill("Hello?");
    await refused.getByRole("button", { name: "Send" }).click();
    await refused.getByRole("alert").waitFor();
    expect(await refused.getByRole("alert").textContent()).toMatch(/^Month usage quota exhausted/);
    host.upstream.replyOnce(eventStream(chatChunks("Half an", { finishReason: null, usage: null }), { end: "cut" }));
    const broken = await visits.open(`${host.account}#models`, { user: "olga" });
    await broken.getByLabel("Message").fill("Hello?");
    await broken.getByRole("button", { name: "Send" }).click();
    await broken.getByRole("alert").waitFor();
    host.upstream.reply(honestChat("Well again"));
    await broken.getByRole("button", { name: "Send" }).click();
    await broken.locator(".answer", { hasText: "Well again" }).waitFor();
    expect(await broken.getByRole("alert").count()).toBe(0);
  });

  it("has snippets for each tool that work with the right base URL", async () => {
    const page = await visits.open(`${host.account}#connect`, { user: "olga" });
    const snippet = () => page.locator("pre").textContent();
    await page.getByLabel("Model").selectOption("openai/gpt-5-mini");
    for (const [tool, parts] of [
      ["curl", [`${host.origin}/ai/v1/chat/completions`, "YOUR_API_KEY"]],
      ["OpenAI · Python", [`base_url="${host.origin}/ai/v1"`]],
      ["OpenAI · JavaScript", [`baseURL: "${host.origin}/ai/v1"`]],
      ["Codex", [`base_url = "${host.origin}/ai/v1"`, 'wire_api = "responses"']],
      ["Claude Code", [`ANTHROPIC_BASE_URL=${host.origin}/ai\n`]],
    ] as const) {
      await page.getByText(tool, { exact: true }).click();
      const text = await snippet();
      for (const part of [...parts, "openai/gpt-5-mini"]) expect(text).toContain(part);
    }
  });
});
