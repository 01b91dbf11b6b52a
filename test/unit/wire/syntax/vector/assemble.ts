import { type Immediate, instructions } from "./instructions.js";

/** WebAssembly's text format (WebAssembly 2.0, "Text Format"), as far as `json-scan.wat` uses it: instructions are folded. */
type Expression = string | Expression[];

const [magic, version] = [
  [0x00, 0x61, 0x73, 0x6d],
  [0x01, 0x00, 0x00, 0x00],
];
const valueTypes: Readonly<Record<string, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };
const noResult = 0x40;
const functionType = 0x60;

/** The binary form of a module in the text format. @throws Error for what it does not know. */
export function assemble(text: string): Uint8Array {
  const [module] = parse(text);
  const fields = childrenOf(module, "module");
  const functions = fields.filter((field) => field[0] === "func").map(toFunction);
  const places = new Map(functions.map(({ name }, index) => [name, index]));
  const [memory] = fields.filter((field) => field[0] === "memory");
  if (memory === undefined) throw new Error("There is no memory.");
  const exported = [{ name: exportOf(memory), kind: 2, index: 0 }];
  for (const [index, { field }] of functions.entries()) {
    const name = exportOf(field);
    if (name !== "") exported.push({ name, kind: 0, index });
  }
  return Uint8Array.from([
    ...magic,
    ...version,
    ...section(1, vector(functions.map(({ params, results }) => [functionType, ...types(params), ...types(results)]))),
    ...section(3, vector(functions.map((_, index) => [index]))),
    ...section(5, vector([[0x00, ...unsigned(Number(memory.at(-1)))]])),
    ...section(7, vector(exported.map(({ name, kind, index }) => [...textOf(name), kind, index]))),
    ...section(10, vector(functions.map((each) => sized(codeOf(each, places))))),
  ]);
}

interface Function {
  readonly name: string;
  readonly field: readonly Expression[];
  readonly params: readonly Named[];
  readonly results: readonly Named[];
  readonly locals: readonly Named[];
  readonly body: readonly Expression[];
}

interface Named {
  readonly name: string;
  readonly type: string;
}

function toFunction(field: readonly Expression[]): Function {
  const declared = (kind: string) => field.filter((each) => each[0] === kind && Array.isArray(each)) as string[][];
  const named = (kind: string) => declared(kind).map(([, name = "", type = ""]) => ({ name, type }));
  const body = field.filter(
    (each) => Array.isArray(each) && !["export", "param", "result", "local"].includes(String(each[0])),
  );
  return {
    name: String(field[1]),
    field,
    params: named("param"),
    results: declared("result").map(([, type = ""]) => ({ name: "", type })),
    locals: named("local"),
    body,
  };
}

function codeOf({ params, locals, body }: Function, functions: ReadonlyMap<string, number>): number[] {
  const variables = new Map([...params, ...locals].map(({ name }, index) => [name, index]));
  const writer = new CodeWriter(variables, functions);
  for (const each of body) writer.instruction(each);
  const declared = vector(locals.map(({ type }) => [1, valueTypeOf(type)]));
  return [...declared, ...writer.bytes, 0x0b];
}

class CodeWriter {
  readonly bytes: number[] = [];
  readonly #variables: ReadonlyMap<string, number>;
  readonly #functions: ReadonlyMap<string, number>;
  /** The labels around, the outermost first. */
  readonly #labels: string[] = [];

  constructor(variables: ReadonlyMap<string, number>, functions: ReadonlyMap<string, number>) {
    this.#variables = variables;
    this.#functions = functions;
  }

  instruction(expression: Expression): void {
    if (!Array.isArray(expression)) throw new Error(`Not folded: ${expression}`);
    const [name, ...rest] = expression;
    if (name === "block" || name === "loop") this.#nested(name === "block" ? 0x02 : 0x03, rest);
    else if (name === "if") this.#choice(rest);
    else this.#plain(String(name), rest);
  }

  #nested(opcode: number, [label, ...body]: readonly Expression[]): void {
    this.bytes.push(opcode, noResult);
    this.#within(String(label), body);
    this.bytes.push(0x0b);
  }

  #choice([condition = [], then, otherwise]: readonly Expression[]): void {
    this.instruction(condition);
    this.bytes.push(0x04, noResult);
    this.#within("", childrenOf(then, "then"));
    if (otherwise !== undefined) {
      this.bytes.push(0x05);
      this.#within("", childrenOf(otherwise, "else"));
    }
    this.bytes.push(0x0b);
  }

  #within(label: string, body: readonly Expression[]): void {
    this.#labels.push(label);
    for (const each of body) this.instruction(each);
    this.#labels.pop();
  }

  /** What an instruction works on is written before it, and what belongs to it behind it. */
  #plain(name: string, rest: readonly Expression[]): void {
    const known = instructions[name];
    if (known === undefined) throw new Error(`There is no instruction ${name}.`);
    const own = rest.filter((each) => typeof each === "string");
    for (const each of rest) if (Array.isArray(each)) this.instruction(each);
    this.bytes.push(...known.opcode, ...this.#immediate(known.immediate, own));
  }

  #immediate(kind: Immediate | undefined, [first = ""]: readonly string[]): readonly number[] {
    switch (kind) {
      case "number":
        return signed(BigInt(first));
      case "variable":
        return unsigned(placeOf(this.#variables, first));
      case "function":
        return unsigned(placeOf(this.#functions, first));
      case "label":
        return unsigned(this.#depthOf(first));
      case undefined:
        return [];
      default:
        return [kind.align, ...unsigned(Number(first.replace("offset=", "")))];
    }
  }

  #depthOf(label: string): number {
    const place = this.#labels.lastIndexOf(label);
    if (place < 0) throw new Error(`There is no label ${label}.`);
    return this.#labels.length - 1 - place;
  }
}

function placeOf(places: ReadonlyMap<string, number>, name: string): number {
  const place = places.get(name);
  if (place === undefined) throw new Error(`There is no ${name}.`);
  return place;
}

function parse(text: string): Expression[] {
  const tokens = text.replaceAll(/;;.*/g, "").match(/[()]|"[^"]*"|[^\s()"]+/g) ?? [];
  const levels: Expression[][] = [[]];
  for (const token of tokens) {
    if (token === "(") levels.push([]);
    else if (token === ")") {
      const done = levels.pop() ?? [];
      levels.at(-1)?.push(done);
    } else levels.at(-1)?.push(token);
  }
  return levels[0] ?? [];
}

function childrenOf(expression: Expression | undefined, kind: string): Expression[][] {
  if (!Array.isArray(expression) || expression[0] !== kind) throw new Error(`There is no ${kind}.`);
  return expression.slice(1) as Expression[][];
}

function exportOf(field: readonly Expression[]): string {
  const found = field.find((each) => Array.isArray(each) && each[0] === "export");
  return found === undefined ? "" : String(found[1]).slice(1, -1);
}

function valueTypeOf(type: string): number {
  const found = valueTypes[type];
  if (found === undefined) throw new Error(`There is no type ${type}.`);
  return found;
}

const types = (named: readonly Named[]) => vector(named.map(({ type }) => [valueTypeOf(type)]));
const section = (id: number, content: readonly number[]) => [id, ...sized(content)];
const sized = (content: readonly number[]) => [...unsigned(content.length), ...content];
const vector = (items: readonly (readonly number[])[]) => [...unsigned(items.length), ...items.flat()];
const textOf = (text: string) => sized([...new TextEncoder().encode(text)]);

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const isLast = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}
