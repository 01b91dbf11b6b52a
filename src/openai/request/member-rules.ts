import { GatewayError } from "../../errors/gateway-error.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { foldName } from "../../wire/folded-names.js";
import type { JsonMember } from "../../wire/json-members.js";
import type { Dialect } from "../dialect.js";
import { hostedTool, requireFunctions } from "./hosted-tool.js";
import { type JsonRequest, usualNames } from "./json-request.js";
import { type MemberRule, neutralValues, restrictions } from "./restricted-members.js";
import { templateOption } from "./template-option.js";

interface Entry {
  readonly name: string;
  readonly rule: MemberRule;
  readonly why: string;
  readonly advice: string;
  /** Returns the path of what the rule forbids; `undefined` when the value is allowed. */
  readonly find: (request: JsonRequest, member: JsonMember) => string | undefined;
}

/** Longer values are not neutral, in bytes. */
const longestNeutral = 64;

const leaveItOut = "Leave it out.";

const general: readonly Entry[] = [
  ...restrictions.flatMap(({ names, rule, why, advice = leaveItOut, neutral = [] }) => {
    const find = unlessNeutral(new Set([...neutralValues, ...neutral]));
    return names.map((name) => ({ name, rule, why, advice, find }));
  }),
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

/** The names that are restricted at every server. */
export const restrictedNames: readonly string[] = general.map(({ name }) => name);

const byFolded = new Map(general.map((entry) => [foldName(entry.name), entry]));

function entryOf(name: string): Pick<Entry, "why" | "advice" | "find"> {
  return byFolded.get(foldName(name)) ?? added;
}

const added: Pick<Entry, "why" | "advice" | "find"> = {
  why: "is not open to requests",
  advice: leaveItOut,
  find: unlessNeutral(new Set(neutralValues)),
};

const noMembers: ReadonlySet<string> = new Set();

/** A target's rules for members by which a client would choose another model, price or cap. */
export class MemberRules {
  /** The rules of a target that allows everything. */
  static readonly none = new MemberRules({});
  /** The rules of a target with {@link Dialect.strictMembers} and nothing else. */
  static readonly strict = new MemberRules({ strictMembers: true });
  /** By the folded names. */
  readonly #entries = new Map<string, Entry>();
  /** By the exact names, and by the common names with the same folded form. */
  readonly #exact = new Map<string, Entry>();

  /**
   * @param dialect - the server's.
   * @param allowed - names that the model allows whatever the rules are.
   */
  constructor({ strictMembers, restricted }: Dialect, allowed: readonly string[] = []) {
    if (strictMembers === true) for (const entry of general) this.#set(entry.name, entry.rule, entry);
    for (const [name, rule] of Object.entries(restricted ?? {})) this.#set(name, rule);
    for (const name of allowed) if (this.#entries.has(foldName(name))) this.#set(name, "pass");
  }

  /** Whether requests need no check. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  #set(name: string, rule: MemberRule, { why, advice, find } = entryOf(name)): void {
    const folded = foldName(name);
    const entry = { name, rule, why, advice, find };
    const former = this.#entries.get(folded);
    if (former !== undefined) this.#exact.delete(former.name);
    this.#entries.set(folded, entry);
    this.#exact.set(usualNames.get(folded) ?? name, entry).set(name, entry);
  }

  /**
   * @param ownMembers - members with another meaning in the request's API; no rule applies to them.
   * @throws GatewayError 400
   */
  refuse(request: JsonRequest, ownMembers = noMembers): void {
    for (const member of request.members) {
      const entry = this.#exact.get(member.name);
      if (entry === undefined || ownMembers.has(member.name)) continue;
      requireName(member.name, entry);
      const found = entry.rule === "refuse" ? entry.find(request, member) : undefined;
      if (found !== undefined) throw refusal(found, entry.why, entry.advice);
    }
    for (const [folded, name] of request.strangers) requireName(name, this.#entries.get(folded));
  }

  /** The dialect, extended by the members of this request that must be removed. */
  dialectFor(request: JsonRequest, dialect: Dialect | undefined, ownMembers = noMembers): Dialect | undefined {
    if (this.isEmpty) return dialect;
    let dropped: string[] | undefined;
    for (const member of request.members) {
      const entry = this.#exact.get(member.name);
      if (entry?.rule !== "drop" || ownMembers.has(member.name) || entry.find(request, member) === undefined) continue;
      dropped ??= [...(dialect?.dropped ?? [])];
      dropped.push(member.name);
      // OpenAI accepts `metadata` only together with `store`.
      if (member.name === "store" && !this.#exact.has("metadata")) dropped.push("metadata");
    }
    return dropped === undefined ? dialect : { ...dialect, dropped };
  }
}

/** A server that ignores case or underscores would read the member. */
function requireName(name: string, entry: Entry | undefined): void {
  if (entry === undefined || entry.name === name) return;
  throw refusal(name, `may be read as '${entry.name}'`, leaveItOut);
}

function unlessNeutral(values: ReadonlySet<string>): Entry["find"] {
  return ({ body }, { name, start, end }) => {
    if (end - start > longestNeutral) return name;
    const text = asBuffer(body).toString("utf8", start, end).replace(/\s/g, "");
    return values.has(text) ? undefined : name;
  };
}

function refusal(param: string, why: string, advice: string): GatewayError {
  const path = param.slice(0, 200);
  return new GatewayError(`'${path}' cannot be set here: it ${why}. ${advice}`, {
    status: 400,
    code: "unsupported_parameter",
    param: path,
  });
}
