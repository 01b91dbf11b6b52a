import type { OperatorHealth } from "../../operator/operator-page-api.js";
import type { OperatorTexts } from "../../operator/operator-texts.js";
import { type PageSettings, readSettings } from "../parts/settings.js";

interface OperatorSettings extends PageSettings {
  readonly texts: OperatorTexts;
}

export const texts = readSettings<OperatorSettings>().texts;

/** What each view knows. */
export interface OperatorViewProps {
  readonly health: OperatorHealth;
  /** What stands behind its name in the address. */
  readonly rest: string;
}
