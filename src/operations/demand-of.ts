import { largestCount } from "../metering/token-counts.js";
import type { PromptCount } from "../openai/chat/prompt-count.js";
import { dropsCaps } from "../openai/request/other-caps.js";
import { mostOutputTokens } from "./most-output-tokens.js";
import type { Demand, ModelTraits } from "./operation.js";

/** What a request says of its size. */
export interface Asked {
  readonly prompt: PromptCount;
  /** Its output cap for one answer; `undefined`: it names none. */
  readonly outputCap: number | undefined;
  /** Whether it has a further cap, in other words than its protocol's. */
  readonly namesOtherCap: boolean;
  /** How many answers it wants. */
  readonly answers: number;
  /** How many calls of the model its server makes for an answer, each with the prompt and the cap. Default: 1. */
  readonly modelCalls?: number | undefined;
}

/**
 * What a request for a text asks of a model, at the most. Reasoning is part of the output, in all protocols: their caps
 * count it.
 * @param defaultOutputTokens - the plan's cap for a request that names none; `undefined`: it has none.
 */
export function demandOf(
  asked: Asked,
  defaultOutputTokens: number | undefined,
  model: Pick<ModelTraits, "contextLength" | "maxOutputTokens" | "dialects">,
): Demand {
  const { outputCap, namesOtherCap, answers, modelCalls = 1 } = asked;
  const most = mostOutputTokens(model);
  const addedCap =
    outputCap === undefined && defaultOutputTokens !== undefined ? Math.min(defaultOutputTokens, most) : undefined;
  // A cap that may not reach the server, or not be the one that it heeds, limits nothing.
  const isHeeded = !namesOtherCap && !model.dialects.some(dropsCaps);
  const each = isHeeded ? Math.min(outputCap ?? addedCap ?? most, most) : most;
  const outputTokens = Math.min(answers * modelCalls * each, largestCount);
  return new TextDemand(asked, model.contextLength, outputTokens, addedCap);
}

/** The prompt is counted when it is asked for. */
class TextDemand implements Demand {
  readonly outputTokens: number;
  readonly addedCap: number | undefined;
  readonly #asked: Asked;
  readonly #contextLength: number;

  constructor(asked: Asked, contextLength: number, outputTokens: number, addedCap: number | undefined) {
    this.outputTokens = outputTokens;
    this.addedCap = addedCap;
    this.#asked = asked;
    this.#contextLength = contextLength;
  }

  get promptTokens(): number {
    return Math.min(this.#asked.prompt.tokens, this.#contextLength);
  }

  get heldPromptTokens(): number {
    const { prompt, modelCalls = 1 } = this.#asked;
    return Math.min(prompt.tokens * modelCalls, largestCount);
  }

  get promptBound(): number | undefined {
    const { prompt, modelCalls = 1 } = this.#asked;
    const { bound } = prompt;
    return bound === undefined || bound > this.#contextLength ? undefined : bound * modelCalls;
  }
}
