import { pageTexts } from "../server/page-texts.js";

/** The texts of the operator's page. `{name}` stands for what differs. */
export const operatorTexts = {
  ...pageTexts,
  today: "Today",
};

/** The texts of the operator's page, by their names. */
export type OperatorTexts = Readonly<Record<keyof typeof operatorTexts, string>>;
