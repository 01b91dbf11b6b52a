/**
 * What a model costs. All prices are finite and at least 0, with at most 12 decimals. What a model must have a price for, and
 * what it can have one for, goes by its type.
 */
export interface Price {
  /** Credits per million prompt tokens. Default: the dearer of `inputImage` and `inputAudio`, or else 0. */
  input?: number | undefined;
  /** Credits per million of the prompt tokens that the upstream read from its cache. Default: `input`. */
  cachedInput?: number | undefined;
  /** Credits per million of the prompt tokens that the upstream put into its cache. Default: `input`. */
  cacheWrite?: number | undefined;
  /**
   * Credits per million of the prompt tokens that the upstream put into its cache for an hour. Default: `cacheWrite`; but
   * where that is above `input`, at least twice `input`, which is what Anthropic charges for such writes.
   */
  cacheWrite1h?: number | undefined;
  /** Credits per million completion tokens. Default: the dearer of `outputImage` and `outputAudio`, or else 0. */
  output?: number | undefined;
  /** Credits per million of the completion tokens that were spent on reasoning. Default: `output`. */
  reasoning?: number | undefined;
  /** Credits per call. Default: 0. */
  request?: number | undefined;
  /** Credits per million of the prompt tokens that stand for images. Default: `input`. */
  inputImage?: number | undefined;
  /** The same, read from the upstream's cache. Default: `cachedInput`, or else `inputImage`. */
  cachedInputImage?: number | undefined;
  /** Credits per million of the prompt tokens that stand for audio. Default: `input`. */
  inputAudio?: number | undefined;
  /** The same, read from the upstream's cache. Default: `cachedInput`, or else `inputAudio`. */
  cachedInputAudio?: number | undefined;
  /** Credits per million of the completion tokens that stand for images. Default: `output`. */
  outputImage?: number | undefined;
  /** Credits per million of the completion tokens that stand for audio. Default: `output`. */
  outputAudio?: number | undefined;
  /** Credits per image that was made. Default: none cost anything. */
  images?: readonly ImagePrice[] | undefined;
  /** Credits per minute of audio that was heard, to the millisecond. Default: 0. */
  audioMinute?: number | undefined;
  /** Credits per million characters that are spoken. They are code points. Default: 0. */
  characters?: number | undefined;
  /** Credits per thousand searches of a reranking model. Default: 0. */
  searches?: number | undefined;
  /**
   * What calls with larger prompts cost: all of their tokens. What a step does not name costs as below all steps. Default:
   * prompts of all sizes cost the same.
   */
  steps?: readonly PriceStep[] | undefined;
  /**
   * What calls cost that a server serves in another tier than its usual one, by the tier's name in lower case, such as
   * `priority`: a response says it in `service_tier`. What a tier does not name costs as usual, but steps are its own. Every
   * call is held at the dearest tier. Default: such calls cost as usual, and a warning `usage_unpriced` tells you once.
   */
  tiers?: Readonly<Record<string, TierPrice>> | undefined;
}

/** The prices that steps and tiers can have. */
export const stepPrices = [
  ...(["input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning"] as const),
  ...(["inputAudio", "cachedInputAudio", "outputAudio"] as const),
] as const satisfies readonly (keyof Price)[];

/** The prices of tokens that can differ by the size of the prompt. */
export type StepPrices = Pick<Price, (typeof stepPrices)[number]>;

/** What calls cost whose prompts are larger than this. */
export interface PriceStep extends StepPrices {
  /** Tokens of the whole prompt. A prompt of exactly so many is below the step. */
  above: number;
}

/** What calls cost in another tier. */
export interface TierPrice extends StepPrices {
  /** See {@link Price.steps}. */
  steps?: readonly PriceStep[] | undefined;
}

/**
 * What an image of a kind costs. An image is charged by the row of its quality and size, else by that of its quality alone,
 * else by that of its size alone, else by the row that has neither. Where no row is for it, the dearest is.
 */
export interface ImagePrice {
  /** Such as `high` or `hd`. Default: any that has no row of its own. */
  quality?: string | undefined;
  /** Such as `1024x1024`. Default: any that has no row of its own. */
  size?: string | undefined;
  /** Credits per image. */
  credits: number;
}

/** A part of a price. */
export type PriceTerm = keyof Price;

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
