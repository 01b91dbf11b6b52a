import { isRecord } from "../../wire/is-record.js";
import type { AnswerJson, AnswerText } from "./answer-format.js";
import { answerTexts } from "./answer-texts.js";

/** Members of events that repeat a text as a whole. */
const wholeTexts = ["text", "refusal", "arguments", "input", "code"];

/**
 * The texts of a streamed response. Each comes as deltas, with its part, with its item, and with the response, and clients
 * read any of them. Where they differ, each is a text.
 */
export class StreamedItemTexts {
  readonly #found = new Map<string, string[]>();
  readonly #deltas = new Map<string, string>();

  read(event: AnswerJson): void {
    const { item, part, delta, output_index: index } = event;
    // Where a server leaves it out, clients that read deltas alone do not miss it.
    const path = Number.isInteger(index) ? `output[${index}]` : "output";
    const place = path + partOf(event);
    this.add([...answerTexts(item, path), ...answerTexts(part, place)]);
    for (const name of wholeTexts) {
      if (typeof event[name] === "string") this.add([{ path: `${place}.${name}`, text: event[name] }]);
    }
    if (isRecord(delta)) this.add(answerTexts(delta, place));
    if (typeof delta !== "string") return;
    const grows = `${place}.${memberOf(String(event["type"]))}`;
    this.#deltas.set(grows, (this.#deltas.get(grows) ?? "") + delta);
  }

  add(texts: readonly AnswerText[]): void {
    for (const { path, text } of texts) {
      const known = this.#found.get(path);
      if (known === undefined) this.#found.set(path, [text]);
      else if (!known.includes(text)) known.push(text);
    }
  }

  texts(): AnswerText[] {
    this.add([...this.#deltas].map(([path, text]) => ({ path, text })));
    return [...this.#found].flatMap(([path, texts]) => texts.flatMap((text) => (text === "" ? [] : { path, text })));
  }
}

function partOf({ content_index: content, summary_index: summary }: AnswerJson): string {
  if (Number.isInteger(summary)) return `.summary[${summary}]`;
  return Number.isInteger(content) ? `.content[${content}]` : "";
}

/** The member that deltas of this type make up. */
function memberOf(type: string): string {
  if (type.includes("refusal")) return "refusal";
  if (type.includes("arguments")) return "arguments";
  if (type.includes("tool_call_input")) return "input";
  return type.includes("code") ? "code" : "text";
}
