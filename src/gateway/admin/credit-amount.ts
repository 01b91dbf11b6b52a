import { z } from "zod";
import { toDecimal } from "../../metering/decimal.js";
import type { Micro } from "../../metering/micro.js";

/** An amount: credits, or whole micro-credits. 1 credit = 1,000,000 micro-credits. Exactly one of them is given. */
export type CreditAmount =
  | {
      /** Credits, with at most 6 decimals. */
      credits: number;
      creditsMicro?: undefined;
    }
  | {
      credits?: undefined;
      /** Whole micro-credits. */
      creditsMicro: Micro;
    };

/** The members of a {@link CreditAmount}, for a schema. */
export const creditAmountShape = { credits: z.number().optional(), creditsMicro: z.number().optional() };

const microDecimals = 6;

/**
 * An amount in micro-credits, exactly.
 * @throws TypeError that begins with `by` when none or both are given, or it is negative, too fine or too large.
 */
export function toCreditsMicro(
  by: string,
  { credits, creditsMicro }: { [name in "credits" | "creditsMicro"]?: number | undefined },
): Micro {
  if ((credits === undefined) === (creditsMicro === undefined)) {
    throw new TypeError(`${by}: give \`credits\`, or \`creditsMicro\` (1 credit = 1,000,000), and not both.`);
  }
  const name = credits === undefined ? "creditsMicro" : "credits";
  const amount = credits ?? creditsMicro ?? 0;
  if (!(amount >= 0)) throw new TypeError(`${by}: \`${name}\` must not be negative.`);
  const { digits, decimals } = toDecimal(amount, name);
  const scaled = credits === undefined ? digits : digits * 10n ** BigInt(microDecimals);
  const unit = 10n ** BigInt(decimals);
  if (scaled % unit !== 0n) throw new TypeError(`${by}: \`${name}\` must be a whole number of micro-credits.`);
  const micro = scaled / unit;
  if (micro > BigInt(Number.MAX_SAFE_INTEGER)) throw new TypeError(`${by}: \`${name}\` is too large to count.`);
  return Number(micro);
}
