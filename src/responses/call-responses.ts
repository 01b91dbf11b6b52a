import type { KeptResponse, ResponseStore } from "./response-store.js";

/** A store of responses as calls use it. */
export interface CallResponses extends ResponseStore {
  /**
   * To be called when a call begins.
   * @returns how it keeps its response: not at all when its account is forgotten meanwhile.
   */
  putLater(account: string): (response: KeptResponse) => Promise<void>;
  /** Resolves when no response is being put any more. */
  settled(): Promise<void>;
}
