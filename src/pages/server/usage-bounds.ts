import * as z from "zod";
import { invalidValue } from "../../errors/gateway-error.js";

/** Epoch seconds, as a query has them. */
export const secondsText = z.coerce.number().int().min(0).max(8.64e12);

const longestDays = { hour: 32, day: 400, none: 400 };
const daySeconds = 86_400;
const mostRows = 10_000;

/** @throws GatewayError 400 for a longer time than a page may ask usage of. */
export function requireFewDays(from: number, to: number, every: "hour" | "day" | undefined): void {
  const most = longestDays[every ?? "none"];
  if (to - from > most * daySeconds) throw invalidValue("from", `The time must be ${most} days at most.`);
}

/** @throws GatewayError 400 for more sums than a page shows. */
export function requireFewSums(sums: number): void {
  if (sums <= mostRows) return;
  throw invalidValue("by", `That would be ${sums} sums. Ask for a shorter time, or for less apart.`);
}
