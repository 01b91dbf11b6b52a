import type { AccountTexts } from "../../account/account-texts.js";
import { type PageSettings, readSettings } from "../parts/settings.js";

/** What the server tells the account page. */
export interface AccountSettings extends PageSettings {
  /** Where clients call the gateway. */
  readonly apiUrl: string;
  readonly role: "owner" | "member";
  readonly texts: AccountTexts;
}

export const { apiUrl, role, texts, title } = readSettings<AccountSettings>();

/** A text whose name ends in something that the server has said, such as a code; that, where there is none. */
export function textOf(kind: string, what: string): string {
  return (texts as Readonly<Record<string, string>>)[`${kind}_${what}`] ?? what;
}
