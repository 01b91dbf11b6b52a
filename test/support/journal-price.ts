import type { EntryTags } from "../../src/ledger/credit-ledger.js";
import { compilePrice } from "../../src/prices/compile-price.js";
import type { Price } from "../../src/prices/price.js";
import { plainUnits, tokenParts, type UsageCounts } from "../../src/prices/usage-counts.js";

/** Reads the `price` of a journal entry. */
export function readVersion(version: string): Price {
  const [tokens = "", ...others] = version.split(";");
  const [input, cachedInput, output, reasoning, request, cacheWrite, cacheWrite1h] = tokens.split("/").map(Number);
  const price: Price = { input, cachedInput, output, reasoning, request, cacheWrite, cacheWrite1h };
  for (const part of others) {
    const [name = "", value = ""] = splitOnce(part, "=");
    const [kind, of = ""] = splitOnce(name, ".");
    if (kind === "above") price.steps = [...(price.steps ?? []), { above: Number(of), ...readWithin(value) }];
    else if (kind === "tier") price.tiers = { ...price.tiers, [of]: readWithin(value) };
    else Object.assign(price, { [name]: name === "images" ? readRows(value, "credits") : Number(value) });
  }
  return price;
}

/** A version in another one: it has all prices, so that what it does not name is not as in the other one. */
function readWithin(version: string): Price {
  // What is within it, in turn, keeps its commas.
  const parts = /^[([]/.test(version)
    ? version.slice(1, -1).replaceAll(/\([^)]*\)|,/g, (found) => (found === "," ? ";" : found))
    : version;
  const price = readVersion(parts);
  const { input, cachedInput, output } = price;
  return { inputAudio: input, cachedInputAudio: cachedInput, outputAudio: output, ...price };
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
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
    ...Object.fromEntries([...names, ...plainUnits].map((name) => [name, count(name)])),
    ...(tags["images"] !== undefined && { images }),
    ...(tags["serviceTier"] !== undefined && { serviceTier: String(tags["serviceTier"]) }),
  } as unknown as UsageCounts;
  return compilePrice(readVersion(String(tags["price"]))).cost(used);
}
