import { PayloadSeal, ThoughtSeal } from "../../src/seal/payload-seal.js";

/** What tests sign with. */
export const ownSeal = new PayloadSeal(["a secret of no other gateway than this"]);

/** For thoughts of one target. */
export const thoughtsOf = (origin: string, account = "acct_pro") => new ThoughtSeal(ownSeal, account, origin);
