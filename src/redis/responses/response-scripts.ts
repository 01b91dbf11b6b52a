import { clock } from "../lua/clock.js";
import {
  deleteResponse,
  findResponse,
  findResponseChain,
  findResponseInput,
  findResponseItems,
  forgetResponses,
  measureResponseChain,
  measureResponseItems,
  putResponse,
  responsesPrelude,
  responsesState,
} from "../lua/responses.js";
import { makeScript, type Script } from "../script.js";

/** One script for each operation of the store of responses. */
export type ResponseScripts = Readonly<
  Record<
    "put" | "find" | "findChain" | "findItems" | "measureChain" | "measureItems" | "findInput" | "delete" | "forget",
    Script
  >
>;

/** @param clockPart - the part that defines `now`. */
export function makeResponseScripts(clockPart: string = clock): ResponseScripts {
  const state = [responsesPrelude, clockPart, responsesState];
  return {
    put: makeScript(...state, putResponse),
    find: makeScript(...state, findResponse),
    findChain: makeScript(...state, findResponseChain),
    findItems: makeScript(...state, findResponseItems),
    measureChain: makeScript(...state, measureResponseChain),
    measureItems: makeScript(...state, measureResponseItems),
    findInput: makeScript(...state, findResponseInput),
    delete: makeScript(...state, deleteResponse),
    forget: makeScript(forgetResponses),
  };
}

export const responseScripts: ResponseScripts = makeResponseScripts();
