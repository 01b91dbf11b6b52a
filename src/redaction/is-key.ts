const strongPrefix =
  /(?<![\w-])(?:(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|npm|r8|nvapi|pplx|fw|csk|xox[abprs]|github_pat)[-_][\w*-]{4,}|AIza[\w-]{6,}|(?:AKIA|ASIA)[A-Z0-9]{8,}|eyJ[\w-]{8,})/;
const weakPrefix = /(?<![\w-])(?:key|org|proj|acct|req|user|chatcmpl|run|thread)[-_](?=[\w*-]{0,64}[\d*])[\w*-]{4,}/;
/** Ids without a digit: longer than what "org-" stands before in prose, or with capitals in between. */
const letterId =
  /(?<![\w-])(?:(?:org|proj|acct)[-_][A-Za-z]{10,}|(?:org|proj|acct|req|chatcmpl)[-_](?=[A-Za-z]{0,64}[a-z][A-Z])[A-Za-z]{5,})(?![\w-])/;

/** A key, an account's or a request's id: by how it begins, by the stars in it, or by letters and digits that no word has. */
export function isKey(word: string): boolean {
  if (strongPrefix.test(word) || weakPrefix.test(word) || letterId.test(word) || word.includes("***")) return true;
  if (/(?<!\w)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)/i.test(word)) return true;
  return word.split(/[^A-Za-z0-9]+/).some(isRandom);
}

function isRandom(part: string): boolean {
  if (part.length < 12 || !/\d/.test(part) || !/[a-z]/i.test(part)) return false;
  if (part.length >= 20) return true;
  // "a1" and "1a": how often letters and digits take turns.
  return (part.match(/[a-z]\d|\d[a-z]/gi) ?? []).length >= 2;
}
