import { afterTurn } from "../../runtime/after-turn.js";

/** Resolves in the next turn of the event loop, after other work. A promise alone would resolve in the same turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => afterTurn(resolve));
}
