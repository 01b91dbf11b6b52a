import type { EntryTags } from "../../src/ledger/credit-ledger.js";
import { compilePrice } from "../../src/metering/prices/compile-price.js";
import type { Price } from "../../src/metering/prices/price.js";
import { tokenParts, type UsageCounts } from "../../src/metering/usage-counts.js";

/** Reads the `price` of a journal entry. */
export function readVersion(version: string): Price {
  const [tokens = "", ...others] = version.split(";");
  const [input, cachedInput, output, reasoning, request, cacheWrite, cacheWrite1h] = tokens.split("/").map(Number);
  const parts = others.map((part) => {
    const [name = "", value = ""] = part.split("=");
    return [name, name === "images" ? readRows(value, "credits") : Number(value)];
  });
  return { input, cachedInput, output, reasoning, request, cacheWrite, cacheWrite1h, ...Object.fromEntries(parts) };
}

/** Such as `high/1024x1024:2,standard:1`. */
function readRows<Name extends "credits" | "count">(text: string, name: Name) {
  return text.split(",").map((row) => {
    const [kind = "", value] = row.split(":");
    const [quality, size] = kind.split("/").map((each) => (each === "*" ? undefined : each));
    return { quality, size, [name]: Number(value) } as { quality?: string; size?: string } & Record<Name, number>;
  });
}

/** What a call costs by its entry in the journal alone, in micro-credits. */
export function costOfEntry(tags: EntryTags): number {
  const count = (name: string): number => Number(tags[name] ?? 0);
  const names = ["input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning", ...tokenParts] as const;
  const images =
    tags["imagesBy"] === undefined ? [{ count: count("images") }] : readRows(String(tags["imagesBy"]), "count");
  const used = {
    ...Object.fromEntries([...names, "audioMs", "characters", "searches"].map((name) => [name, count(name)])),
    ...(tags["images"] !== undefined && { images }),
  } as unknown as UsageCounts;
  return compilePrice(readVersion(String(tags["price"]))).cost(used);
}
