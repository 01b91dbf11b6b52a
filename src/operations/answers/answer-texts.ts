import { isRecord } from "../../wire/is-record.js";
import { memberPath } from "../prompt-texts/member-path.js";
import type { TextRule } from "../prompt-texts/prompt-layout.js";
import { isTextByType, kindOf, ruleWithin } from "../prompt-texts/text-rules.js";
import type { AnswerText } from "./answer-format.js";

/** A value of an answer, and where it stands. */
interface Place {
  readonly path: string;
  /** Of the object or list that holds it. */
  readonly rule: TextRule;
  /** The member that it is, or whose list it stands in. */
  readonly name: string;
  /** The `type` beside it. */
  readonly type: string | undefined;
}

/**
 * The texts in a part of an answer, in their order: every string but ids, URLs, files and the like. Names of tools are
 * texts, too. Probabilities repeat the texts token by token, and are left out.
 */
export function answerTexts(value: unknown, path: string): AnswerText[] {
  const texts: AnswerText[] = [];
  collect(value, { path, rule: "prompt", name: "", type: undefined }, texts);
  return texts;
}

function collect(value: unknown, place: Place, texts: AnswerText[]): void {
  if (typeof value === "string") {
    if (value !== "" && isText(place)) texts.push({ path: place.path, text: value });
    return;
  }
  if (typeof value !== "object" || value === null || place.name === "logprobs") return;
  const rule = ruleWithin(place.rule, place.name);
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      collect(element, { ...place, path: `${place.path}[${index}]`, rule }, texts);
    }
  } else if (isRecord(value)) {
    const type = typeof value["type"] === "string" ? value["type"] : undefined;
    for (const [name, member] of Object.entries(value)) {
      collect(member, { path: memberPath(place.path, name), rule, name, type }, texts);
    }
  }
}

function isText({ rule, name, type }: Place): boolean {
  const isNamed = rule === "prompt" && name === "name";
  const kind = kindOf(rule, name);
  return isNamed || kind === "text" || (kind === "file" && isTextByType(name, type));
}
