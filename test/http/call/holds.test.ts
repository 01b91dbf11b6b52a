import { describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, createGate, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";
import { noise } from "../../support/text-samples.js";

/** Ten thousand micro-credits, which are as many prompt tokens. */
const session = 0.01;
const now = Date.UTC(2026, 0, 5, 12);

/** Sends requests at once, each of which costs `tokens` when it is answered, and tells what became of them. */
async function spend(requests: number, body: Record<string, unknown>, tokens: number, model: object = {}) {
  const ledger = memoryCreditLedger({ clock: { now: () => now } });
  const test = await startTestGateway({
    clock: { now: () => now },
    ledger,
    models: [{ ...smallModel, price: { input: 1, output: 0 }, ...model }],
    keys: memoryKeyStore([{ key: "sk-pro", account: "acct_pro", plan: "p" }]),
    plans: memoryPlanStore({ p: { models: ["*"], credits: { session } } }),
  });
  const gate = createGate();
  const usage = { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 };
  test.upstream.reply(async (request, response) => {
    await gate.pass();
    await wholeAnswer(chatAnswer({ usage }))(request, response);
  });
  const answers = Array.from({ length: requests }, () => test.gateway.handler(chatRequest(body)));
  await test.upstream.nextRequest();
  gate.open();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  const limits = windowLimits({
    credits: { session: session * 1e6, week: null, month: null },
    sessionMs: 18_000_000,
    now,
  });
  const { usedMicro } = (await ledger.balance("acct_pro", limits)).windows.session;
  await test.close();
  return { admitted: statuses.filter((status) => status === 200).length, used: usedMicro };
}

const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
const image = { type: "image_url", image_url: { url: "https://images.test/1.png", detail: "high" } };

describe("requests at once", () => {
  it("with images by address overspend by less than one of them", async () => {
    const body = user(Array.from({ length: 20 }, () => image));
    expect(await spend(19, body, 22_101)).toEqual({ admitted: 1, used: 22_101 });
  });

  it("are held for at the bound that the model sets for images", async () => {
    const tokenBounds = { image: 2000 };
    const { admitted } = await spend(19, user([image]), 1105, { tokenBounds });
    expect(admitted).toBe(5);
  });

  it("with base64 under a tool's url overspend by less than one of them", async () => {
    const url = `data:image/png;base64,${noise(12_000).toString("base64")}`;
    const tools = [{ type: "function", function: { name: "f", parameters: { url } } }];
    const { admitted } = await spend(9, { ...user("Hi"), tools }, 11_000);
    expect(admitted).toBe(1);
  });

  it.each<[string, unknown]>([
    ["files by id", [{ type: "file", file: { file_id: "file-1" } }]],
    [
      "audio that is elsewhere",
      [{ type: "input_audio", input_audio: { data: "https://audio.test/1.mp3", format: "mp3" } }],
    ],
    ["video", [{ type: "video_url", video_url: { url: "https://video.test/1.mp4" } }]],
  ])("with %s are held for with the whole context", async (_name, content) => {
    expect(await spend(5, user(content), 128_000)).toEqual({ admitted: 1, used: 128_000 });
  });
});
