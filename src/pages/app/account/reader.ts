import type { AccountKey, AccountList, AccountMe } from "../../account/account-page-api.js";
import { useApi } from "../parts/use-api.js";
import { texts } from "./settings.js";

/** What each view knows of the reader. */
export interface ViewProps {
  readonly me: AccountMe;
  /** Asks for it anew, after something has changed. */
  readonly reload: () => void;
}

/** What is done with keys. */
export type KeyTask = "make" | "edit" | "rotate" | "enable" | "disable" | "revoke";

/** The newest keys, for their names, tags and caps. */
export function useKeys(): readonly AccountKey[] | undefined {
  return useApi<AccountList<AccountKey>>("keys?limit=100").data?.data;
}

/** What a key is called that calls were made with. `null`: none. */
export function keyName(keys: readonly AccountKey[] | undefined, id: string | null): string {
  if (id === null) return texts.untagged;
  if (id === "session") return texts.sessionCalls;
  return id === "account-page" ? texts.pageCalls : (keys?.find((key) => key.id === id)?.name ?? id);
}
