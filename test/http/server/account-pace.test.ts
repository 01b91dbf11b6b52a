import { expect, it } from "vitest";
import { AccountPace } from "../../../src/server/account-pace.js";
import { countPace } from "../../../src/server/count-tokens.js";
import { startTestGateway } from "../../support/test-gateway.js";

function paced(burst: number, perSecond: number) {
  const clock = { time: 1_000_000, now: () => clock.time };
  return { clock, pace: new AccountPace({ burst, perSecond }, clock) };
}

it("lets an account go on in bursts, and then as time goes by", () => {
  const { clock, pace } = paced(3, 2);
  expect([1, 2, 3, 4].map(() => pace.take("a"))).toEqual([0, 0, 0, 500]);
  expect(pace.take("b")).toBe(0);
  clock.time += 250;
  expect(pace.take("a")).toBe(250);
  clock.time += 250;
  expect([pace.take("a"), pace.take("a")]).toEqual([0, 500]);
  clock.time += 60_000;
  expect([1, 2, 3, 4].map(() => pace.take("a"))).toEqual([0, 0, 0, 500]);
});

it("gives nothing for a clock that goes back", () => {
  const { clock, pace } = paced(1, 1);
  expect(pace.take("a")).toBe(0);
  clock.time -= 5000;
  expect(pace.take("a")).toBe(1000);
});

it("forgets the account that was idle longest", () => {
  const { pace } = paced(1, 1);
  for (let index = 0; index < 10_000; index++) pace.take(`account-${index}`);
  expect(pace.take("account-0")).toBe(1000);
  pace.take("one more");
  expect(pace.take("account-0")).toBe(1000);
  expect(pace.take("account-1")).toBe(0);
});

it("bounds how often an account has tokens counted", async () => {
  const clock = { now: () => 1_000_000 };
  const { gateway, close } = await startTestGateway({ clock });
  const count = (key = "sk-pro") =>
    gateway.handler(
      new Request("http://gateway.test/v1/messages/count_tokens", {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] }),
      }),
    );
  for (let index = 0; index < countPace.burst; index++) expect((await count()).status).toBe(200);
  const refused = await count("sk-narrow");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ error: { type: "rate_limit_error" } });
  expect((await count("sk-basic")).status).toBe(200);
  await close();
});
