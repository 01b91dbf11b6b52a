import type { OperationName } from "../../metering/operation-name.js";

/**
 * What the gateway does with something that a client may send. `passes`: it reaches a server that speaks the protocol,
 * and changes nothing but the response. `priced`: it passes, and what it costs is in the usage. `expanded`: the gateway
 * puts what it refers to in its place. `left out`: it is removed, and the response stays the same. `refused`: a 400.
 */
export type Treatment = "passes" | "priced" | "expanded" | "left out" | "refused";

/**
 * Where it stands. `member`: of the request. `item`: of an input, by its type. `block`: of a content, by its type.
 * `source`: of an image or a document. `tool`: by its type, in a list of tools and inside messages. `tool member`: an
 * object or a list in one. `inner member`: one anywhere else below the top level. `open member`: a member of the request
 * whose content is the client's own, or read apart. `open inner member`: the same for one below the top level. `edit`: of a conversation that became long. `beta`: a value of the header `anthropic-beta`.
 */
export type Place =
  | "member"
  | "item"
  | "block"
  | "source"
  | "tool"
  | "tool member"
  | "inner member"
  | "open member"
  | "open inner member"
  | "edit"
  | "beta";

/** Names with the same treatment. */
export interface Row {
  readonly place: Place;
  readonly treatment: Treatment;
  /** A `*` at the end stands for digits, letters, `_` and `-`: vendors date their names. */
  readonly names: readonly string[];
  /** The reason; it follows the name in the error. */
  readonly why?: string;
  /** What to do instead. */
  readonly advice?: string;
  /** Further values of a member that request nothing, as JSON without white space. */
  readonly neutral?: readonly string[];
  /** Refused whatever the options say, also where no target speaks the protocol. */
  readonly always?: true;
}

interface Facts {
  readonly protocol: OperationName;
  /** The vendor's reference that it was made from. */
  readonly reference: string;
  /** The day of that reference. */
  readonly date: string;
  /** Members that no rule of all protocols is for: here they mean something else, or are checked apart. */
  readonly own: readonly string[];
  /** Its prices are for what the table knows, and nothing that a server reports says more: no unknown member simply passes. */
  readonly isClosed?: boolean;
}

/**
 * Everything that the gateway knows of what one protocol's clients may send, as data. What stands in no row, and in no
 * row of `restrictions`, is unknown. The check, `docs/restricted-members.md` and the tests read it.
 */
export class ProtocolTable {
  readonly protocol: OperationName;
  readonly reference: string;
  readonly date: string;
  readonly own: ReadonlySet<string>;
  readonly isClosed: boolean;
  readonly rows: readonly Row[];
  readonly #exact = new Map<Place, Map<string, Row>>();
  readonly #beginnings = new Map<Place, { readonly beginning: string; readonly row: Row }[]>();

  constructor({ protocol, reference, date, own, isClosed = false }: Facts, rows: readonly Row[]) {
    this.protocol = protocol;
    this.reference = reference;
    this.date = date;
    this.own = new Set(own);
    this.isClosed = isClosed;
    this.rows = rows;
    for (const row of rows) for (const name of row.names) this.#add(name, row);
  }

  #add(name: string, row: Row): void {
    const { place } = row;
    if (name.endsWith("*")) {
      const beginnings = this.#beginnings.get(place) ?? [];
      beginnings.push({ beginning: name.slice(0, -1), row });
      this.#beginnings.set(place, beginnings);
      return;
    }
    const names = this.#exact.get(place) ?? new Map<string, Row>();
    this.#exact.set(place, names.set(name, row));
  }

  /** `undefined`: the name is unknown. */
  find(place: Place, name: string): Row | undefined {
    const exact = this.#exact.get(place)?.get(name);
    if (exact !== undefined) return exact;
    const found = this.#beginnings.get(place)?.find(({ beginning }) => name.startsWith(beginning));
    return found !== undefined && plain.test(name) ? found.row : undefined;
  }

  /** The names in a place that get this treatment. */
  names(place: Place, treatment: Treatment): string[] {
    return this.rows.filter((row) => row.place === place && row.treatment === treatment).flatMap(({ names }) => names);
  }
}

const plain = /^[\w-]{1,128}$/;

/** The words of a list that is written as one text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
