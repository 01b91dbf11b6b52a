import { Buffer } from "node:buffer";
import { elementsOf, type JsonMember, memberOf, membersOf } from "../../wire/json-members.js";
import type { EventPlace } from "../../wire/templates/event-template.js";
import type { ByteSpan } from "../../wire/templates/measure-string.js";
import { areDistinct, placeOf } from "../../wire/templates/places.js";
import type { EventPlaces, TemplateSource } from "../../wire/templates/template-shortcut.js";
import type { ChatProgress } from "./chat-progress.js";

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
