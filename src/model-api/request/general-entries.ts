import { asBuffer } from "../../wire/as-buffer.js";
import { foldName } from "../../wire/folded-names.js";
import type { Row } from "../tables/protocol-table.js";
import { hostedTool, requireFunctions } from "./hosted-tool.js";
import type { MemberEntry } from "./member-entries.js";
import { neutralValues, restrictions } from "./restricted-members.js";
import { templateOption } from "./template-option.js";

/** Longer values are not neutral, in bytes. */
const longestNeutral = 64;

const leaveItOut = "Leave it out.";

/** The rules that hold at every server with `strictMembers`. */
export const generalEntries: readonly MemberEntry[] = [
  ...restrictions.flatMap(({ names, rule, why, advice = leaveItOut, neutral }) =>
    names.map((name) => ({ name, rule, why, advice, find: unlessNeutral(neutral) })),
  ),
  {
    name: "tools",
    rule: "refuse",
    why: "is a tool that the server runs itself, at a price of its own",
    advice: "Send tools of the types 'function' and 'custom' alone.",
    find: hostedTool,
  },
  { name: "functions", rule: "refuse", why: "is no list", advice: leaveItOut, find: requireFunctions },
  {
    name: "chat_template_kwargs",
    rule: "refuse",
    why: "makes the prompt longer than it was sent",
    advice: leaveItOut,
    find: templateOption,
  },
];

const byFolded = new Map(generalEntries.map((entry) => [foldName(entry.name), entry]));

/** The rule that all servers share for this name or one like it; else one that refuses any value. */
export function entryOf(name: string): Pick<MemberEntry, "why" | "advice" | "find"> {
  return byFolded.get(foldName(name)) ?? added;
}

const added = { why: "is not open to requests", advice: leaveItOut, find: unlessNeutral() };

/** The rules of a row of a protocol's own. */
export function rowEntries({ treatment, names, why = added.why, advice = leaveItOut, neutral }: Row): MemberEntry[] {
  const find = unlessNeutral(neutral);
  const rule = treatment === "refused" ? "refuse" : treatment === "left out" ? "drop" : "pass";
  return names.map((name) => ({ name, rule, why, advice, find }));
}

function unlessNeutral(further: readonly string[] = []): MemberEntry["find"] {
  const values = new Set([...neutralValues, ...further]);
  return ({ body }, { name, start, end }) => {
    if (end - start > longestNeutral) return name;
    const text = asBuffer(body).toString("utf8", start, end).replace(/\s/g, "");
    return values.has(text) ? undefined : name;
  };
}
