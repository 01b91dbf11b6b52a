import { largestCount } from "../metering/token-counts.js";
import type { UsageCounts } from "../metering/usage-counts.js";
import type { PromptCount } from "../model-api/prompt/prompt-count.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import { dropsCaps } from "../model-api/request/other-caps.js";
import { asBuffer } from "../wire/as-buffer.js";
import { memberOf } from "../wire/json-members.js";
import { mostOutputTokens } from "./most-output-tokens.js";
import type { Demand, ModelTraits } from "./operation.js";

/** A request for a text. */
type TextRequest = Pick<JsonRequest, "body" | "members">;

/** What a request says of its size. */
export interface Asked<Request extends TextRequest> extends AskedOutput {
  readonly request: Request;
  /** Finds out how much the prompt is. @throws GatewayError 400 when it has more parts than anybody looks at. */
  readonly countPrompt: (request: Request, model: ModelTraits) => PromptCount;
}

/** What a request says of the size of its answers. */
export interface AskedOutput {
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
export function demandOf<Request extends TextRequest>(
  asked: Asked<Request>,
  defaultOutputTokens: number | undefined,
  model: ModelTraits,
): Demand {
  const addedCap = addedCapOf(asked.outputCap, defaultOutputTokens, model);
  return new TextDemand(asked, model, heldOutput(asked, addedCap, model), addedCap);
}

/** The cap that is added to a request that names none. @param usual - such requests' cap; `undefined`: they have none. */
export function addedCapOf(
  outputCap: number | undefined,
  usual: number | undefined,
  model: ModelTraits,
): number | undefined {
  return outputCap === undefined && usual !== undefined ? Math.min(usual, mostOutputTokens(model)) : undefined;
}

/** The most output of all answers together. */
export function heldOutput(
  { outputCap, namesOtherCap, answers, modelCalls = 1 }: AskedOutput,
  addedCap: number | undefined,
  model: ModelTraits,
): number {
  const most = mostOutputTokens(model);
  // A cap that may not reach the server, or not be the one that it heeds, limits nothing.
  const isHeeded = !namesOtherCap && !model.dialects.some(dropsCaps);
  const each = isHeeded ? Math.min(outputCap ?? addedCap ?? most, most) : most;
  return Math.min(answers * modelCalls * each, largestCount);
}

/** A shorter request, in bytes, cannot have so many parts that it is refused for them. */
const mayHaveTooMany = 8192;

/** The prompt is looked at when somebody asks for it: a call that is denied whatever it needs is not. */
class TextDemand<Request extends TextRequest> implements Demand {
  readonly outputTokens: number;
  readonly addedCap: number | undefined;
  readonly #asked: Asked<Request>;
  readonly #model: ModelTraits;
  #count: PromptCount | undefined;

  constructor(asked: Asked<Request>, model: ModelTraits, outputTokens: number, addedCap: number | undefined) {
    this.outputTokens = outputTokens;
    this.addedCap = addedCap;
    this.#asked = asked;
    this.#model = model;
    const { request, countPrompt } = asked;
    this.#count = request.body.length < mayHaveTooMany ? undefined : countPrompt(request, model);
  }

  get promptTokens(): number {
    return Math.min(this.#prompt.tokens, this.#model.contextLength);
  }

  get heldPromptTokens(): number {
    const { modelCalls = 1 } = this.#asked;
    return Math.min(this.#prompt.tokens * modelCalls, largestCount);
  }

  get promptBound(): number | undefined {
    const { modelCalls = 1 } = this.#asked;
    const { bound } = this.#prompt;
    return bound === undefined || bound > this.#model.contextLength ? undefined : bound * modelCalls;
  }

  get most(): UsageCounts | undefined {
    if (this.#model.pricesAudio !== true) return undefined;
    const outputAudio = asksForAudio(this.#asked.request) ? this.outputTokens : 0;
    const { modelCalls = 1 } = this.#asked;
    const inputAudio = Math.min(this.#prompt.audio * modelCalls, largestCount);
    const { promptTokens: input, outputTokens: output } = this;
    return { input, cachedInput: 0, output, reasoning: 0, inputAudio, outputAudio };
  }

  get #prompt(): PromptCount {
    this.#count ??= this.#asked.countPrompt(this.#asked.request, this.#model);
    return this.#count;
  }
}

/** Whether an answer may be spoken: OpenAI's members that ask for that. */
function asksForAudio({ body, members }: TextRequest): boolean {
  const modalities = memberOf(members, "modalities");
  if (modalities === undefined) return memberOf(members, "audio") !== undefined;
  const said = asBuffer(body).toString("latin1", modalities.start, modalities.end);
  // An escape can stand for any letter.
  return said.includes("audio") || said.includes("\\");
}
