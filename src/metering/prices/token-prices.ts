import type { Price } from "./price.js";

/** The prices of plain tokens, with what each is where it is not given. */
export interface TokenPrices {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly request: number;
}

export function tokenPrices(price: Price): TokenPrices {
  const { inputImage = 0, inputAudio = 0, outputImage = 0, outputAudio = 0 } = price;
  const { input = Math.max(inputImage, inputAudio), output = Math.max(outputImage, outputAudio) } = price;
  const { cachedInput = input, cacheWrite = input, reasoning = output, request = 0 } = price;
  const { cacheWrite1h = usualHourPrice(input, cacheWrite) } = price;
  return { input, cachedInput, cacheWrite, cacheWrite1h, output, reasoning, request };
}

/**
 * What a write for an hour costs where its price is not given. Only servers that charge as Anthropic does report such
 * writes; a price of writes above that of the prompt tells that the model is sold as it is bought.
 */
function usualHourPrice(input: number, cacheWrite: number): number {
  return cacheWrite > input ? Math.max(cacheWrite, 2 * input) : cacheWrite;
}

/** What the journal shows of them. */
export function shownTokenPrices(price: Price, { cacheWrite, cacheWrite1h, ...others }: TokenPrices): string {
  const { input, cachedInput, output, reasoning, request } = others;
  const prices = [input, cachedInput, output, reasoning, request];
  const hasHourPrice = cacheWrite1h !== cacheWrite;
  if (price.cacheWrite !== undefined || hasHourPrice) prices.push(cacheWrite);
  if (hasHourPrice) prices.push(cacheWrite1h);
  return prices.join("/");
}
