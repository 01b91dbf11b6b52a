import { expect, it } from "vitest";
import type { ModelTraits, TargetTraits } from "../../../../src/protocols/shared/operation.js";
import { originOf } from "../../../../src/protocols/translate/translated-exchange.js";

const origin = (upstreamModel: string, id: string) =>
  originOf({ upstreamModel } as TargetTraits, { id } as ModelTraits);

it("is the same for the same target, another for any other, and shows no name", () => {
  const own = origin("secret-deployment", "acme/small");
  expect(own).toBe(origin("secret-deployment", "acme/small"));
  expect(own).toMatch(/^[\w-]{16}$/);
  const others = [origin("other", "acme/small"), origin("secret-deployment", "acme/large")];
  expect(others).not.toContain(own);
});
