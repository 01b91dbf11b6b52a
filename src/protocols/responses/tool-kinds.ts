import { GatewayError, invalidType, invalidValue } from "../../errors/gateway-error.js";
import { absent, elementsOf, memberOf, valueAt } from "../../wire/json-members.js";
import { type MemberFault, MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import type { JsonRequest } from "../shared/json-request.js";
import type { Span } from "../shared/message-outline.js";
import { misspelledName } from "../shared/request-names.js";
import type { InputItem } from "./input-outline.js";
import { responsesTable } from "./responses-table.js";

/** Who runs a tool: the client; the model's server, as a web search; the model's server in another way. */
export type ToolRunner = "client" | "search" | "server";

/** The position of a tool in a request. */
export interface ToolSpan extends Span {
  /** Its path in the request, such as `tools[2]`. */
  readonly path: string;
  readonly type: string | undefined;
  readonly runner: ToolRunner;
  readonly name: Span | undefined;
  /** How many tools it contains. */
  readonly held: number;
}

/** The most tools, and the most members of one tool; far more than any API has. */
const mostTools = 2048;
const mostMembers = 64;
/** No type is longer, in bytes. */
const longestType = 256;

/** Items of an input that add tools. */
const itemsWithTools: ReadonlySet<string> = new Set(["tool_search_output", "additional_tools"]);

const toolMembers = ["type", "name", "tools", "execution", "environment"] as const;
const search = new MemberSearch(toolMembers, mostMembers);
const inEnvironment = new MemberSearch(["type"], mostMembers);

const noTools: readonly ToolSpan[] = [];

/** Who runs a tool of this type. */
export function runnerOf(type: string | undefined): ToolRunner {
  const treatment = type === undefined ? undefined : responsesTable.find("tool", type)?.treatment;
  return treatment === "passes" ? "client" : treatment === "left out" ? "search" : "server";
}

/**
 * The tools of a request, in their order, including those within namespaces and items.
 * @throws GatewayError 400 for a tool that servers could read in different ways, or for more tools than the limit.
 */
export function readTools(request: JsonRequest, items: readonly InputItem[] | undefined): readonly ToolSpan[] {
  const listed = memberOf(request.members, "tools");
  if (listed === undefined && items === undefined) return noTools;
  const reader = new ToolReader(request);
  if (listed !== undefined) reader.readList(listed, "tools", false);
  for (const [index, { type, tools }] of (items ?? []).entries()) {
    if (itemsWithTools.has(type) && tools !== undefined) reader.readList(tools, `input[${index}].tools`, false);
  }
  return reader.tools;
}

class ToolReader {
  readonly tools: ToolSpan[] = [];
  readonly #body: Uint8Array;
  readonly #skips: Skips;

  constructor({ body, skips }: JsonRequest) {
    this.#body = body;
    this.#skips = skips;
  }

  /** @param isInner - whether it is in a namespace. @returns how many tools the list contains. */
  readList({ start }: Span, path: string, isInner: boolean): number {
    const body = this.#body;
    if (body[start] === 0x6e) return 0;
    if (body[start] !== 0x5b) throw invalidType(path, "an array");
    const starts = elementsOf(body, start, this.#skips, mostTools);
    if (starts.length + this.tools.length > mostTools) throw tooMany(path);
    for (const [index, each] of starts.entries()) this.#readTool(each, `${path}[${index}]`, isInner);
    return starts.length;
  }

  #readTool(start: number, path: string, isInner: boolean): void {
    const body = this.#body;
    if (body[start] !== 0x7b) throw invalidType(path, "an object");
    const fault = search.run(body, start, this.#skips);
    if (fault !== undefined) throw refused(fault, path);
    const { end } = search;
    const [type, execution] = [textOf(body, "type"), textOf(body, "execution")];
    const [name, inner] = [spanOf("name"), spanOf("tools")];
    if (isInner && type === "namespace") throw invalidValue(`${path}.type`, "A namespace cannot stand in a namespace.");
    const environment = spanOf("environment");
    // A tool search without an `execution` is the server's.
    const isServers = type === "tool_search" && execution !== "client";
    const isLocal = type === "shell" && environment !== undefined && this.#isLocal(environment);
    const runner = isLocal ? "client" : isServers ? "server" : runnerOf(type);
    const tool = { start, end, path, type, runner, name, held: 0 };
    this.tools.push(tool);
    if (type !== "namespace" && runner === "client" && inner !== undefined && body[inner.start] !== 0x6e) {
      throw invalidValue(`${path}.tools`, "Only a namespace holds tools.");
    }
    if (type === "namespace" && inner !== undefined) tool.held = this.readList(inner, `${path}.tools`, true);
  }

  /** Whether the client runs a shell. */
  #isLocal({ start }: Span): boolean {
    const body = this.#body;
    if (body[start] !== 0x7b || inEnvironment.run(body, start, this.#skips) !== undefined) return false;
    const type = inEnvironment.starts[0] ?? absent;
    return type !== absent && valueAt(body, { start: type, end: inEnvironment.ends[0] ?? type }) === "local";
  }
}

function refused({ reason, name, meant }: MemberFault, path: string): GatewayError {
  if (reason === "too_many") return invalidValue(path, `A tool has more than ${mostMembers} members.`);
  if (reason === "twice") return invalidValue(`${path}.${name}`, `'${name}' appears twice.`);
  return misspelledName(name, meant, path);
}

function tooMany(path: string): GatewayError {
  const options = { status: 400, code: "array_above_max_length", param: path };
  return new GatewayError(`A request must hold at most ${mostTools} tools.`, options);
}

function spanOf(name: (typeof toolMembers)[number]): Span | undefined {
  const place = toolMembers.indexOf(name);
  const start = search.starts[place] ?? absent;
  return start === absent ? undefined : { start, end: search.ends[place] ?? start };
}

function textOf(body: Uint8Array, name: (typeof toolMembers)[number]): string | undefined {
  const span = spanOf(name);
  if (span === undefined || span.end - span.start > longestType) return undefined;
  const value = valueAt(body, span);
  return typeof value === "string" ? value : undefined;
}
