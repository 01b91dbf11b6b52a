import * as z from "zod";
import { InputError } from "../../check/check-input.js";
import { mostCredits } from "../../check/limit-schemas.js";
import { type Micro, toDecimal } from "../../prices/micro.js";

/** An amount: credits, or whole micro-credits. 1 credit = 1,000,000 micro-credits. Exactly one of them is given. */
export type CreditAmount =
  | {
      /** Credits, with at most 6 decimals. The noise of floating point, as in `3 * 0.1`, does not count. */
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
/** What thousands of prices that are added up are off by is less than this part of the sum. */
const noisePart = 2n ** 40n;

/**
 * An amount in micro-credits, exactly, but for the noise of floating point in credits.
 * @throws TypeError that begins with `by` when none or both are given, or it is negative, too fine or too large.
 */
export function toCreditsMicro(
  by: string,
  { credits, creditsMicro }: { [name in "credits" | "creditsMicro"]?: number | undefined },
): Micro {
  if ((credits === undefined) === (creditsMicro === undefined)) {
    throw new InputError(`${by}: give \`credits\`, or \`creditsMicro\` (1 credit = 1,000,000), and not both.`);
  }
  const name = credits === undefined ? "creditsMicro" : "credits";
  const amount = credits ?? creditsMicro ?? 0;
  if (!(amount >= 0)) throw new InputError(`${by}: \`${name}\` must not be negative.`);
  const { digits, decimals } = toDecimal(amount, name);
  const unit = 10n ** BigInt(decimals);
  const scaled = credits === undefined ? digits : digits * 10n ** BigInt(microDecimals);
  const micro = (scaled + unit / 2n) / unit;
  const rest = scaled - micro * unit;
  const isNoise = credits !== undefined && (rest < 0n ? -rest : rest) * noisePart < scaled;
  if (rest !== 0n && !isNoise)
    throw new InputError(
      `${by}: \`${name}\` must be a whole number of micro-credits: credits have at most 6 decimals.`,
    );
  if (micro > BigInt(Number.MAX_SAFE_INTEGER)) {
    const most = credits === undefined ? Number.MAX_SAFE_INTEGER : mostCredits;
    throw new InputError(`${by}: \`${name}\` must be at most ${most}.`);
  }
  return Number(micro);
}
