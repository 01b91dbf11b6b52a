import { Buffer } from "node:buffer";
import type { StreamProgress } from "../../prices/progress.js";
import { guessTokens, type UsageCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import { areDistinct, placeOf } from "../../wire/event-place.js";
import type { ByteSpan, EventPlace, EventPlaces, TemplateSource } from "../../wire/event-template.js";
import { elementsOf, type JsonMember, memberOf, membersOf } from "../../wire/json-members.js";
import { type CountedTokens, countedTokens, type EstimateBounds, estimatedOutput } from "../shared/token-estimate.js";
import { UsageTally } from "../shared/usage-tally.js";

/** How many choices a stream has. */
interface ExpectedChoices {
  /** So many of them complete a stream that nothing else says the end of. */
  readonly all: number;
  /** Fewer are no response, though the upstream says that it is done. Some servers know no `n`. */
  readonly least: number;
}

/** Further ones of a chat completion begin before the first one ends. */
const oneChoice: ExpectedChoices = { all: 1, least: 1 };

/** The progress of a completion's stream. The stream's reader updates it; the meter reads it. */
export class ChatProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #bounds: EstimateBounds;
  readonly #expected: ExpectedChoices;
  /** Text, reasoning, refusals and tool calls. */
  readonly #output = new TextSample();
  #outputChoice: number | undefined;
  #begun = 0;
  #finished = 0;
  #showsReasoning = false;
  readonly #tally = new UsageTally();
  #reportedObject: Record<string, unknown> | undefined;
  /** Whether a report that counts the output came with the end of the response or after it. */
  #reportIsFinal = false;
  #isDone = false;

  constructor(bounds: EstimateBounds, expected = oneChoice) {
    this.#bounds = bounds;
    this.#expected = expected;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Whether text, a tool call or a finish reason has arrived. */
  get hasOutput(): boolean {
    return this.#output.bytes > 0 || this.#finished > 0;
  }

  /** Whether every choice that began has ended, and no further one has to come. */
  get isComplete(): boolean {
    const { all, least } = this.#expected;
    return this.#finished === this.#begun && this.#finished >= (this.#isDone ? least : all);
  }

  get seenOutput(): number {
    return guessTokens(this.#output.bytes);
  }

  get reasons(): boolean {
    return this.#showsReasoning || (this.#tally.report?.tokens.reasoning ?? 0) > 0;
  }

  get isCounted(): boolean {
    return this.#reportIsFinal && this.isComplete && !this.#counted.estimated;
  }

  get awaitsUsage(): boolean {
    return this.isComplete;
  }

  /** The output is an estimate until there is a usage report from the end of the stream. */
  get tokens(): UsageCounts {
    const { tokens } = this.#counted;
    if (this.#reportIsFinal || this.#tally.report === undefined) return tokens;
    return { ...tokens, output: Math.max(tokens.output, estimatedOutput(this.#bounds, this.#output)) };
  }

  get estimated(): boolean {
    return this.#counted.estimated || (this.isComplete && !this.#reportIsFinal);
  }

  get unpriced(): string | undefined {
    return this.#tally.unpriced;
  }

  get #counted(): CountedTokens {
    return countedTokens(this.#tally, this.#bounds, () => this.#output);
  }

  /** The latest usage object of the upstream, unchanged. */
  get reportedUsage(): Record<string, unknown> | undefined {
    return this.#reportedObject;
  }

  /** Where the output of a choice is added. The texts of several choices must not become one word. */
  outputOf(choice: number): TextSample {
    const output = this.#output;
    if (choice !== this.#outputChoice && output.bytes > 0) output.addText(" ");
    this.#outputChoice = choice;
    return output;
  }

  choiceBegan(): void {
    this.#begun++;
  }

  choiceFinished(): void {
    this.#finished++;
  }

  reasoningCame(): void {
    this.#showsReasoning = true;
  }

  /** Ignores everything but a usage object. */
  usageCame(usage: Record<string, unknown> | undefined): void {
    const added = this.#tally.add(usage);
    if (added === undefined) return;
    this.#reportedObject = usage;
    // Zeros count nothing, where more was counted before.
    const isCount = added.tokens.output > 0 || this.#tally.report?.tokens.output === 0;
    if (added.hasOutput && isCount) this.#reportIsFinal = this.isComplete;
  }

  /** @param said - the tier that a chunk names. */
  tierCame(said: unknown): void {
    if (said !== undefined) this.#tally.tierCame(said);
  }

  /** `[DONE]` has arrived. Nothing after it counts. */
  doneCame(): void {
    this.#isDone = true;
  }
}

/** Members of a delta that contain the model's text. */
const textMembers: readonly string[] = ["content", "reasoning_content", "reasoning"];

/** Two quotes. */
const emptyText = 2;

/** The chunks that bring plain text of one choice in the middle of a stream: they differ in the text of the delta alone. */
export class ChunkSource implements TemplateSource {
  readonly count = 0;
  readonly #progress: ChatProgress;
  #choice = 0;

  constructor(progress: ChatProgress) {
    this.#progress = progress;
  }

  takes(): boolean {
    return true;
  }

  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined {
    const from = findChunkText(received);
    const to = from && findChunkText(sent);
    if (from === undefined || to === undefined || from.places.length !== to.places.length) return undefined;
    if (!from.places.every(({ kind }, index) => kind === to.places[index]?.kind)) return undefined;
    // A repaired choice may have needed the repair only because it was the first.
    if (Buffer.compare(from.choices, to.choices) !== 0) return undefined;
    this.#choice = from.choice;
    return { received: from.places, sent: to.places };
  }

  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void {
    this.#progress.outputOf(this.#choice).addEscaped(bytes, text.start, text.end, escapes);
  }
}

/** Where the text of the only choice's delta, and OpenAI's random padding, stand in a chunk. */
interface ChunkText {
  /** In the order of their positions. */
  places: EventPlace[];
  /** The member of the delta that has the text. */
  member: string;
  hasRole: boolean;
  /** The index of the choice. */
  choice: number;
  choices: Uint8Array;
}

/** @returns `undefined` unless the chunk is plain text of one choice in the middle of a stream. */
function findChunkText(json: Buffer): ChunkText | undefined {
  if (json[0] !== 0x7b) return undefined;
  const members = membersOf(json);
  const choices = memberOf(members, "choices");
  if (!areDistinct(members) || choices === undefined || json[choices.start] !== 0x5b) return undefined;
  const usage = memberOf(members, "usage");
  if (usage !== undefined && json[usage.start] !== 0x6e) return undefined;
  if (members.some(({ name }) => name === "error" || name === "x_groq")) return undefined;
  const [choice, ...others] = elementsOf(json, choices.start);
  if (choice === undefined || others.length > 0) return undefined;
  const found = findText(json, choice);
  if (found === undefined) return undefined;
  const { text, index, hasRole } = found;
  const padding = memberOf(members, "obfuscation");
  const places = [placeOf("text", text)];
  if (padding !== undefined && json[padding.start] === 0x22) places.push(placeOf("padding", padding));
  places.sort((left, right) => left.start - right.start);
  return { places, member: text.name, hasRole, choice: index, choices: json.subarray(choices.start, choices.end) };
}

/**
 * @returns where the content of a chunk stands that brings that of the first choice alone. Only a first chunk of the
 * gateway's own has a role: no other is like it.
 */
export function contentOfChunk(json: Buffer, mayHaveRole: boolean): readonly EventPlace[] | undefined {
  const found = findChunkText(json);
  if (found?.member !== "content" || found.choice !== 0) return undefined;
  return mayHaveRole || !found.hasRole ? found.places : undefined;
}

function findText(json: Buffer, choice: number): { text: JsonMember; hasRole: boolean; index: number } | undefined {
  const members = membersOf(json, choice);
  const finish = memberOf(members, "finish_reason");
  const delta = memberOf(members, "delta");
  const index = memberOf(members, "index");
  if (!areDistinct(members) || index === undefined || delta === undefined) return undefined;
  if (finish !== undefined && json[finish.start] !== 0x6e) return undefined;
  const deltaMembers = membersOf(json, delta.start);
  if (json[delta.start] !== 0x7b || !areDistinct(deltaMembers)) return undefined;
  const rest = deltaMembers.filter(({ name, start }) => name !== "role" && json[start] !== 0x6e);
  const [text, ...more] = rest;
  if (text === undefined || more.length > 0 || !textMembers.includes(text.name) || json[text.start] !== 0x22) {
    return undefined;
  }
  // That the model reasons shows in the first words, which must be read.
  if (text.name !== "content" && text.end - text.start === emptyText) return undefined;
  const hasRole = memberOf(deltaMembers, "role") !== undefined;
  return { text, hasRole, index: Number(json.toString("latin1", index.start, index.end)) };
}
