import { GatewayError } from "../../errors/gateway-error.js";
import type { OperationName } from "../../prices/operation-name.js";
import { asBuffer } from "../../wire/bytes.js";
import type { JsonMember } from "../../wire/json-members.js";
import { foldName } from "../../wire/member-search.js";
import { type Dialect, dialectNames, type MemberRule, neutralValues, restrictions } from "./dialect.js";
import { hostedTool, requireFunctions, templateOption } from "./hosted-tool.js";
import { InnerMembers, isStructured } from "./inner-members.js";
import { type JsonRequest, usualNames } from "./json-request.js";
import { type Place, type ProtocolTable, type Row, type UnknownPlace, UnknownPlaces } from "./protocol-table.js";

/** The rule of one member of a request. */
interface MemberEntry {
  readonly name: string;
  readonly rule: MemberRule;
  readonly why: string;
  readonly advice: string;
  /** Returns the path of what the rule forbids; `undefined` when the value is allowed. */
  readonly find: (request: JsonRequest, member: JsonMember) => string | undefined;
}

/** Rules by the names of members. Of several for one name, the last one counts. */
class MemberEntries {
  /** By the folded names. */
  readonly #folded = new Map<string, MemberEntry>();
  /** By the exact names, and by the common names with the same folded form. */
  readonly #exact = new Map<string, MemberEntry>();

  get isEmpty(): boolean {
    return this.#folded.size === 0;
  }

  /** The rule of a member as it is written. */
  of(name: string): MemberEntry | undefined {
    return this.#exact.get(name);
  }

  /** The rule that a server goes by which matches names loosely. @param folded - see `foldName`. */
  ofFolded(folded: string): MemberEntry | undefined {
    return this.#folded.get(folded);
  }

  /** Whether there is a rule for the name, or for one that some server takes it for. */
  isSet(name: string): boolean {
    return this.#folded.has(foldName(name));
  }

  set(entry: MemberEntry): void {
    const { name } = entry;
    const folded = foldName(name);
    const former = this.#folded.get(folded);
    if (former !== undefined) this.#exact.delete(former.name);
    this.#folded.set(folded, entry);
    this.#exact.set(usualNames.get(folded) ?? name, entry).set(name, entry);
  }
}

/** Longer values are not neutral, in bytes. */
const longestNeutral = 64;

const leaveItOut = "Leave it out.";

/** The rules that hold at every server with `strictMembers`. */
const generalEntries: readonly MemberEntry[] = [
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
function rowEntries({ treatment, names, why = added.why, advice = leaveItOut, neutral }: Row): MemberEntry[] {
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

/** The names that are restricted at every server. */
export const restrictedNames: readonly string[] = generalEntries.map(({ name }) => name);

const isRestricted: ReadonlySet<string> = new Set(restrictedNames);

/** What an operator says of what the gateway does not know. */
type UnknownMembers = "refuse" | "pass";

/** A target's own part of its rules. */
interface RuleOptions {
  /** Names that pass whatever the rules are. */
  readonly allowed?: readonly string[] | undefined;
  /** Default: with `strictMembers` objects and types are refused, and all else passes. */
  readonly unknown?: UnknownMembers | undefined;
  /** The protocols that the target speaks itself. Default: none. */
  readonly speaks?: ReadonlySet<OperationName> | undefined;
}

/** A choice names tools of the request: it adds none. */
const namedTools: ReadonlySet<string> = new Set(["tools"]);
const noMembers: ReadonlySet<string> = new Set();

/**
 * A target's rules for what a client would choose another model, price or cap by, for what the server keeps for all
 * clients together, and for what nobody knows.
 */
export class MemberRules {
  /** The rules of a target that allows everything. */
  static readonly none = new MemberRules({});
  /** The rules of a target with {@link Dialect.strictMembers} and nothing else. */
  static readonly strict = new MemberRules({ strictMembers: true });
  readonly #dialect: Dialect;
  readonly #allowed: ReadonlySet<string>;
  readonly #unknown: UnknownMembers | undefined;
  readonly #passesTools: boolean;
  readonly #speaks: ReadonlySet<OperationName>;
  /** Each is made when it is first needed. */
  readonly #byTable = new Map<ProtocolTable | undefined, MemberEntries>();
  readonly #dialectNames: ReadonlySet<string>;

  /** @param dialect - the server's. */
  constructor(dialect: Dialect, { allowed = [], unknown, speaks = new Set() }: RuleOptions = {}) {
    this.#dialect = dialect;
    this.#allowed = new Set(allowed);
    this.#unknown = unknown ?? (dialect.strictMembers === true ? undefined : "pass");
    this.#passesTools = unknown === "pass";
    this.#speaks = speaks;
    this.#dialectNames = new Set(dialectNames(dialect));
  }

  /**
   * Refuses what a target must not be sent.
   * @param table - of the request's protocol; absent: it has none.
   * @throws GatewayError 400
   */
  refuse(request: JsonRequest, table?: ProtocolTable): void {
    const entries = this.#entriesFor(table);
    if (!entries.isEmpty) refuseMembers(request, entries, table?.own ?? noMembers);
    if (table === undefined || !this.#speaks.has(table.protocol)) return;
    if (this.#unknown !== "pass") this.#refuseUnknown(request, table, entries);
    if (request.unknown === undefined) return;
    // Those of messages and of responses are checked apart: they are refused where no target would run them, too.
    const areTools = table.protocol === "chat/completions";
    for (const place of request.unknown) {
      if ((areTools || place.place !== "tool") && !this.lets(place, table)) throw refusalOf(place);
    }
  }

  /** The dialect, extended by the members of this request that must be removed. */
  dialectFor(request: JsonRequest, dialect: Dialect | undefined, table?: ProtocolTable): Dialect | undefined {
    const entries = this.#entriesFor(table);
    if (entries.isEmpty) return dialect;
    const own = table?.own ?? noMembers;
    let dropped: string[] | undefined;
    for (const member of request.members) {
      const entry = entries.of(member.name);
      if (entry?.rule !== "drop" || own.has(member.name) || entry.find(request, member) === undefined) continue;
      dropped ??= [...(dialect?.dropped ?? [])];
      dropped.push(member.name);
      // OpenAI accepts `metadata` only together with `store`.
      if (member.name === "store" && entries.of("metadata") === undefined) dropped.push("metadata");
    }
    return dropped === undefined ? dialect : { ...dialect, dropped };
  }

  /** Whether the target is sent what does not simply pass: it speaks the protocol, and its operator wants it. */
  lets({ place, name, row }: Omit<UnknownPlace, "path">, { protocol }: ProtocolTable): boolean {
    if (!this.#speaks.has(protocol)) return false;
    if (this.#allowed.has(name)) return true;
    // The price of a tool is never in the usage, so that it takes the operator's own word.
    if (place === "tool") return row === undefined && this.#passesTools;
    return row === undefined ? this.#unknown === "pass" : this.#dialect.strictMembers !== true;
  }

  /** Whether the target is sent a name of the table, or of none. */
  passes(table: ProtocolTable, place: Place, name: string): boolean {
    const row = table.find(place, name);
    return row === undefined || isRefusedRow(row) ? this.lets({ place, name, row }, table) : true;
  }

  #refuseUnknown(request: JsonRequest, table: ProtocolTable, entries: MemberEntries): void {
    const { body, members } = request;
    for (const member of members) {
      const { name, start } = member;
      const isShut = this.#unknown === "refuse" || (table.isClosed && body[start] !== 0x6e);
      if (!isShut && body[start] !== 0x7b && body[start] !== 0x5b) continue;
      if (table.find("member", name) !== undefined) {
        this.#refuseInner(request, member, table);
        continue;
      }
      if (isRestricted.has(name) || entries.of(name) !== undefined) continue;
      if (this.#allowed.has(name) || this.#dialectNames.has(name)) continue;
      if (isShut || isStructured(request, member)) throw refusal(name, unknownWhy, unknownAdvice);
    }
  }

  /** For what stands in a member, apart from what was read before. */
  #refuseInner({ body, skips }: JsonRequest, { name, start }: JsonMember, table: ProtocolTable): void {
    if (table.find("open member", name) !== undefined || this.#allowed.has(name)) return;
    if (body[start] !== 0x7b && body[start] !== 0x5b) return;
    const places = new UnknownPlaces(table);
    const inner = new InnerMembers(body, skips, table, places);
    if (name === "tools") inner.readTools(start, () => name);
    else if (name === "tool_choice" && body[start] === 0x7b) inner.readObject(start, () => name, namedTools);
    else inner.readValue(start, () => name);
    for (const place of places.found ?? []) {
      const isApart = name === "tools" && place.place === "tool";
      if (!isApart && !this.lets(place, table)) throw refusalOf(place);
    }
  }

  #entriesFor(table: ProtocolTable | undefined): MemberEntries {
    let entries = this.#byTable.get(table);
    if (entries === undefined) {
      entries = this.#makeEntries(table);
      this.#byTable.set(table, entries);
    }
    return entries;
  }

  #makeEntries(table: ProtocolTable | undefined): MemberEntries {
    const { strictMembers, restricted } = this.#dialect;
    const entries = new MemberEntries();
    if (strictMembers === true) for (const entry of generalEntries) entries.set(entry);
    if (table !== undefined && strictMembers === true && this.#speaks.has(table.protocol)) {
      const rows = table.rows.filter((row) => row.place === "member" && row.always !== true && isRefusedRow(row));
      for (const entry of rows.flatMap(rowEntries)) entries.set(entry);
    }
    const setRule = (name: string, rule: MemberEntry["rule"]) => entries.set({ ...entryOf(name), name, rule });
    for (const [name, rule] of Object.entries(restricted ?? {})) setRule(name, rule);
    for (const name of this.#allowed) if (entries.isSet(name)) setRule(name, "pass");
    return entries;
  }
}

const unknownWhy = "is unknown, and may cost or reach what it must not";
const unknownAdvice = "Leave it out, or ask the operator of this service to allow it.";

function isRefusedRow({ treatment }: Row): boolean {
  return treatment === "refused" || treatment === "left out";
}

function refuseMembers(request: JsonRequest, entries: MemberEntries, own: ReadonlySet<string>): void {
  for (const member of request.members) {
    const entry = entries.of(member.name);
    if (entry === undefined || own.has(member.name)) continue;
    requireName(member.name, entry);
    const found = entry.rule === "refuse" ? entry.find(request, member) : undefined;
    if (found !== undefined) throw refusal(found, entry.why, entry.advice);
  }
  for (const [folded, name] of request.strangers) requireName(name, entries.ofFolded(folded));
}

/** A server that ignores case or underscores would read the member. */
function requireName(name: string, entry: MemberEntry | undefined): void {
  if (entry === undefined || entry.name === name) return;
  throw refusal(name, `may be read as '${entry.name}'`);
}

function refusalOf({ path, name, row }: UnknownPlace): GatewayError {
  if (row !== undefined) return refusal(path, row.why ?? unknownWhy, row.advice);
  // The path ends with it where it is the name of a member.
  const isType = name !== "" && !path.endsWith(`.${name}`);
  return refusal(
    path,
    isType ? `has the type '${name.slice(0, 100)}', which ${unknownWhy}` : unknownWhy,
    unknownAdvice,
  );
}

function refusal(param: string, why: string, advice = "Leave it out."): GatewayError {
  const path = param.slice(0, 200);
  return new GatewayError(`'${path}' cannot be set here: it ${why}. ${advice}`, {
    status: 400,
    code: "unsupported_parameter",
    param: path,
  });
}
