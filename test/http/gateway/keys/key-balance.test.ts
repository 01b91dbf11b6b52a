import { afterEach, beforeEach, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore, memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

const hour = 3_600_000;
const start = Date.UTC(2026, 2, 10, 12);
const clock = { ms: start, now: () => clock.ms };

let test: TestGateway;
beforeEach(async () => {
  clock.ms = start;
  test = await startTestGateway({
    clock,
    ledger: memoryCreditLedger({ clock }),
    keys: memoryKeyStore([]),
    // Its days begin at six.
    accounts: memoryAccountStore([{ id: "acme", plan: "pro", anchor: Date.UTC(2026, 0, 1, 6) }]),
  });
});
afterEach(() => test.close());

async function chat(secret: string): Promise<void> {
  const response = await test.gateway.handler(chatRequest({}, secret));
  expect(response.status).toBe(200);
  await response.text();
}

it("has what a key used under each cap, and when that ends", async () => {
  const { keys } = test.gateway;
  const { id, secret } = await keys.create({ account: "acme", credits: { day: 1, total: 50 } });
  expect(await keys.balance(id)).toMatchObject({
    key: id,
    account: "acme",
    caps: [{ usedMicro: 0 }, { usedMicro: 0 }],
  });
  await chat(secret);
  const { caps } = await keys.balance(id);
  expect(caps.map(({ window, limitMicro }) => [window, limitMicro])).toEqual([
    ["day", 1_000_000],
    ["total", 50_000_000],
  ]);
  const [day, total] = caps;
  expect(day?.usedMicro).toBeGreaterThan(0);
  expect(total?.usedMicro).toBe(day?.usedMicro);
  expect(day?.remainingMicro).toBe(1_000_000 - (day?.usedMicro ?? 0));
  expect([day?.resetsAt, total?.resetsAt]).toEqual([Date.UTC(2026, 2, 11, 6), null]);
  clock.ms = start + 24 * hour;
  expect((await keys.balance(id)).caps.map(({ usedMicro }) => usedMicro > 0)).toEqual([false, true]);
});

it("goes on where a key was rotated, and is empty without caps", async () => {
  const { keys } = test.gateway;
  const first = await keys.create({ account: "acme", credits: { month: 5 } });
  await chat(first.secret);
  const { caps } = await keys.balance(first.id);
  const second = await keys.rotate(first.id);
  expect((await keys.balance(second.id)).caps).toEqual(caps);
  const { id } = await keys.create({ account: "acme" });
  expect(await keys.balance(id)).toEqual({ key: id, account: "acme", caps: [] });
  await expect(keys.balance("key_none")).rejects.toMatchObject({ status: 404 });
});
