import type { Price } from "../../metering/prices/price.js";
import { priceVariants } from "../app/price-variants.js";
import type { AccountModel, AccountPricePart } from "./account-page-api.js";

/** What a model costs the reader, by the factor of their plan or account. */
export function toPrice(
  { input, cachedInput, output, request, images = [], steps, tiers, ...rest }: Price,
  factor: number,
): NonNullable<AccountModel["price"]> {
  const scaled = (amount: number) => Number((amount * factor).toPrecision(12));
  const known = (amount: number | undefined) => (amount === undefined ? null : scaled(amount));
  const others = Object.entries(rest).flatMap(([name, amount]): AccountPricePart[] =>
    typeof amount === "number" ? [{ part: inSnakeCase(name), of: null, credits: scaled(amount) }] : [],
  );
  const made = images.map(({ quality, size, credits }): AccountPricePart => {
    const of = [quality, size].filter((part) => part !== undefined).join(" ");
    return { part: "image", of: of === "" ? null : of, credits: scaled(credits) };
  });
  const variants = priceVariants({ steps, tiers }).map(({ part, of, credits }): AccountPricePart => {
    return { part: inSnakeCase(part), of, credits: scaled(credits) };
  });
  return {
    ...{ input: known(input), cached_input: known(cachedInput), output: known(output), request: known(request) },
    others: [...others, ...variants, ...made],
  };
}

/** `cacheWrite1h` is `cache_write_1h`. */
function inSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z\d])/g, "_").toLowerCase();
}
