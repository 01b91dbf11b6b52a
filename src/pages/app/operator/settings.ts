import type { OperatorHealth } from "../../operator/operator-page-api.js";
import type { OperatorTexts } from "../../operator/operator-texts.js";
import { type PageSettings, readSettings } from "../parts/settings.js";

interface OperatorSettings extends PageSettings {
  readonly texts: OperatorTexts;
}

export const { texts } = readSettings<OperatorSettings>();

/** A text whose name ends in something that the server has said, such as a state; that, where there is none. */
export function textOf(kind: string, what: string): string {
  return (texts as Readonly<Record<string, string>>)[`${kind}_${what}`] ?? what;
}

/** What each view knows. */
export interface ViewProps {
  readonly health: OperatorHealth;
  /** What stands behind its name in the address. */
  readonly rest: string;
}
