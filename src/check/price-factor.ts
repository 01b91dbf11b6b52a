import * as z from "zod";

const largest = 1000;
const mostDecimals = 6;
const error = `must be a number greater than 0, and at most ${largest}, with at most ${mostDecimals} decimals, such as 0.8`;

/** What prices are multiplied by. Not 0: a model that is free has a price of 0. */
export const priceFactor = z
  .number({ error })
  .refine((factor) => factor > 0 && factor <= largest && Number(factor.toFixed(mostDecimals)) === factor, { error })
  .nullish();
