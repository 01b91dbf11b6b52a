import { responseBytes } from "../../responses/response-bytes.js";
import type { KeptItem, KeptResponse } from "../../responses/response-store.js";

/** What the scripts read of a response; its texts are stored apart. */
interface Head {
  readonly createdAt: number;
  readonly previousResponseId?: string | undefined;
  readonly bytes: number;
  /** The ids of items. */
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** The head, the response's text, and those of its items, as the scripts take and answer them. */
export function toStoredResponse(kept: KeptResponse): string[] {
  const { createdAt, previousResponseId, response, input, output } = kept;
  const [inputIds, outputIds] = [input.map(({ id }) => id), output.map(({ id }) => id)];
  const bytes = responseBytes(kept);
  const head: Head = { createdAt, previousResponseId, bytes, input: inputIds, output: outputIds };
  return [JSON.stringify(head), response, ...[...input, ...output].map(({ json }) => json)];
}

/** @returns `undefined` for the answer that there is none. */
export function fromStoredResponse(account: string, id: string, stored: readonly unknown[]): KeptResponse | undefined {
  const [headText, response, ...texts] = stored.map(String);
  if (headText === undefined || response === undefined) return undefined;
  const { createdAt, previousResponseId, input, output } = JSON.parse(headText) as Head;
  const itemsOf = (ids: readonly string[], first: number): KeptItem[] =>
    ids.map((itemId, index) => ({ id: itemId, json: texts[first + index] ?? "" }));
  return {
    ...{ id, account, createdAt, previousResponseId, response },
    input: itemsOf(input, 0),
    output: itemsOf(output, input.length),
  };
}
