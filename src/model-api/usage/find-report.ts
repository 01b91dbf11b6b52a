import { isRecord } from "../../wire/is-record.js";
import { reportPlaces } from "./usage-names.js";

/** Servers whose response itself is the report: Ollama's and llama.cpp's own, by a member that they have. */
const ownCounts = ["eval_count", "tokens_predicted"];

/**
 * Where a response, or a chunk of one, says what it took: in its `usage`, in that of its first choice that has one, or
 * elsewhere.
 * @returns `undefined` where it does not say.
 */
export function findReport(said: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { usage, choices } = said;
  if (isRecord(usage)) return usage;
  return (Array.isArray(choices) ? reportOfChoice(choices) : undefined) ?? reportElsewhere(said);
}

/** Moonshot's last chunk has it in its choice. */
function reportOfChoice(choices: readonly unknown[]): Record<string, unknown> | undefined {
  for (const choice of choices) {
    if (!isRecord(choice)) continue;
    for (const holder of holdersIn(choice)) {
      if (isRecord(holder) && isRecord(holder["usage"])) return holder["usage"];
    }
  }
  return undefined;
}

/** What of a choice may have a report. */
function holdersIn(choice: Record<string, unknown>): readonly unknown[] {
  return [choice, choice["delta"], choice["message"]];
}

function reportElsewhere(said: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  for (const [holder, name] of reportPlaces) {
    const held = said[holder];
    const report = name === undefined ? held : isRecord(held) ? held[name] : undefined;
    if (isRecord(report)) return report;
  }
  return ownCounts.some((name) => typeof said[name] === "number") ? said : undefined;
}

/**
 * Takes reports out of choices, in place: clients look for them in the `usage`, and get none that they did not ask for.
 * @returns whether there was one.
 */
export function takeChoiceReports(choices: readonly unknown[]): boolean {
  let isTaken = false;
  for (const choice of choices) {
    if (!isRecord(choice)) continue;
    for (const holder of holdersIn(choice)) {
      if (!isRecord(holder) || holder["usage"] === undefined || holder["usage"] === null) continue;
      delete holder["usage"];
      isTaken = true;
    }
  }
  return isTaken;
}
