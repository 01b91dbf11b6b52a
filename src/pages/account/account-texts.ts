import { pageTexts } from "../server/page-texts.js";

/** The texts of the account page. `{name}` stands for what differs. */
export const accountTexts = {
  ...pageTexts,
  overview: "Overview",
};

/** The texts of the account page, by their names. */
export type AccountTexts = Readonly<Record<keyof typeof accountTexts, string>>;
