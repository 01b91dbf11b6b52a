import { largestCount, type UsageCounts } from "../../prices/usage-counts.js";
import { asBuffer } from "../../wire/bytes.js";
import { type MemberEdits, memberOf, valueAt } from "../../wire/json-members.js";
import { foldName } from "../../wire/member-search.js";
import { type CapName, capHolders, capNames, otherCapNames } from "./dialect.js";
import type { JsonRequest } from "./json-request.js";
import type { Demand, ModelTraits } from "./operation.js";
import type { PromptCount } from "./prompt-tokens.js";
import type { ProtocolTable } from "./protocol-table.js";

/** A request for a text. */
type TextRequest = Pick<JsonRequest, "body" | "members">;

/** What a request says of its size. */
interface Asked<Request extends TextRequest> extends AskedOutput {
  readonly request: Request;
  /** Finds out how much the prompt is. @throws GatewayError 400 when it has more parts than anybody looks at. */
  readonly countPrompt: (request: Request, model: ModelTraits) => PromptCount;
}

/** What a request says of the size of its answers. */
interface AskedOutput {
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
  const isHeeded = !namesOtherCap && !model.dialects.some(({ dropsCaps }) => dropsCaps);
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

type Bounds = Pick<ModelTraits, "contextLength" | "maxOutputTokens">;

/** The longest answer of a model, in tokens. No cap above it is sent. */
export function mostOutputTokens({ contextLength, maxOutputTokens = contextLength }: Bounds): number {
  return maxOutputTokens;
}

/**
 * The cap that a Messages target is sent where the request names none: such servers do not go without.
 * @param added - the plan's, if it has one.
 */
export function requiredOutputCap({ maxOutputTokens }: Bounds, added: number | undefined): number {
  return added ?? maxOutputTokens ?? usualMaxTokens;
}

/**
 * The output cap where neither the client nor the plan nor the model names one. Messages do not go without, and servers
 * refuse a cap above their model's own, which nobody knows here.
 */
export const usualMaxTokens = 4096;

const otherCaps: ReadonlySet<string> = new Set(otherCapNames.map(foldName));
const foreign: ReadonlySet<string> = new Set([
  ...otherCaps,
  ...capHolders.map(foldName),
  foldName("max_output_tokens"),
]);

type Request = Pick<JsonRequest, "body" | "members" | "strangers">;

/**
 * Whether a request has an output cap beside its protocol's own. Nothing shows which of them its server heeds.
 * @param own - of the request's protocol.
 */
export function namesOtherCap(request: Request, own: readonly CapName[]): boolean {
  for (const name of capNames) if (!own.includes(name) && isGiven(request, name)) return true;
  if (request.strangers.size === 0) return false;
  for (const [folded, name] of request.strangers) if (foreign.has(folded) && isGiven(request, name)) return true;
  return false;
}

/** Cuts those of them down that are numbers: no upstream is sent a cap above what is held. */
export function cutOtherCaps(request: Request, own: readonly CapName[], most: number, edits: MemberEdits): void {
  for (const member of request.members) {
    const { name } = member;
    const isOther = capNames.some((cap) => cap === name && !own.includes(cap)) || otherCaps.has(foldName(name));
    const value = isOther ? valueAt(request.body, member) : undefined;
    // Below 0 means: without end.
    if (typeof value === "number" && (value > most || value < 0) && !edits.has(name)) edits.set(name, String(most));
  }
}

function isGiven({ body, members }: Request, name: string): boolean {
  const member = memberOf(members, name);
  return member !== undefined && body[member.start] !== 0x6e;
}

/**
 * Refuses members that a model's targets do not let requests choose.
 * @param table - of the request's protocol.
 * @throws GatewayError 400
 */
export function requireAllowedMembers(
  request: JsonRequest,
  { rules, dialects }: Pick<ModelTraits, "rules" | "dialects">,
  table?: ProtocolTable,
): void {
  if (request.strangers.size > 0) {
    for (const dialect of dialects) dialect.requireOwnNames(request.strangers);
  }
  for (const rule of rules) rule.refuse(request, table);
}
