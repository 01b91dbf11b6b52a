import { describe, expect, it } from "vitest";
import { priceFor } from "../../../src/call/admission/price-for.js";
import { compilePrice } from "../../../src/prices/compile-price.js";
import { scaledPrice } from "../../../src/prices/compiled-price.js";

describe("the price for a caller", () => {
  const price = compilePrice({ input: 1, output: 1 });

  it("is the very same where nobody has a factor", () => {
    expect(priceFor({ caller: {}, allowance: { priceFactor: undefined } }, price)).toBe(price);
  });

  it("goes by the factor of the account in place of its plan's", () => {
    const of = (accountPriceFactor: number | undefined) =>
      priceFor({ caller: { accountPriceFactor }, allowance: { priceFactor: 0.8 } }, price);
    expect(of(undefined)).toBe(scaledPrice(price, 0.8));
    expect(of(1.25)).toBe(scaledPrice(price, 1.25));
    expect(of(1)).toBe(price);
  });
});
