/** What an upstream says of a failure. Each is empty where it says nothing. */
interface SaidOfFailure {
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/**
 * What vendors call it, in types and codes, when the operator's money with them is out, or the operator's account cannot be
 * used: whatever the status is, it is no mistake of the client's.
 */
const codes: readonly RegExp[] = [
  // OpenAI's `insufficient_quota`, one-api's `insufficient_user_quota`, DeepSeek, Novita and Vercel.
  /insufficient_(\w+_)?(quota|balance|credits?|funds)|not_enough_(balance|credits?|funds|quota)|quota_(\w+_)?not_enough/,
  // OpenAI's `billing_hard_limit_reached` and `billing_not_active`, Anthropic's `billing_error`.
  /billing|payment|arrears|arrearage|overdue|prepaid|top_?up|recharge/,
  // Anthropic's `contract_spend_limit_reached`, OpenAI's `organization_usage_limit_exceeded`.
  /(spend|spending|usage)_(limit|cap)|credit(s|_balance|_limit)?_(exhausted|depleted|exceeded|too_low|reached)/,
  // Moonshot's `exceeded_current_quota_error`. Cerebras' `token_quota_exceeded` is a rate.
  /exceeded_(\w+_)?quota|(?<!(token|request)s?_)quota_(exceeded|exhausted|reached)/,
  // LiteLLM's, and OpenAI's `session_budget_exceeded`. One of thinking is the client's.
  /^(session_|project_|team_|user_|key_)?budget_(exceeded|exhausted|reached)/,
  // Groq, above its spend limit.
  /blocked_api_access/,
  // Anthropic's `organization_on_hold` and `cmek_key_disabled`, Groq's `organization_restricted`.
  /(^|_)(organi[sz]ation|workspace|account)(_|$)|cmek_(?!context_unavailable|key_unreachable)|key_creator|key_profile/,
];

/**
 * The same in sentences, where vendors give no code of their own. Only the beginning of a message counts: what follows may
 * repeat the client's own words.
 */
const sentences: readonly RegExp[] = [
  // Anthropic.
  /^your credit balance is too low/,
  /^you have reached your specified (workspace )?api usage limits/,
  /^this organization has been disabled/,
  // OpenAI.
  /^billing hard limit has been reached/,
  /^your account is not active/,
  // Gemini.
  /^your (prepayment|prepaid) credits are depleted/,
  /^your (project|billing account) has exceeded its (\w+ )?(spending|spend) (cap|limit)/,
  /^(user location is not supported|gemini api free tier is not available)/,
  // xAI.
  /^your (newly created )?team\b.{0,80}?(used all available credits|doesn't have any credits)/,
  // DeepSeek, GLM, OpenRouter and others.
  /^(sorry, )?(you have )?(insufficient|not enough) ((account|user) )?(balance|credits?|funds|quota)\b/,
  /^(sorry, )?your (account )?balance is (insufficient|not enough|too low)/,
  /^you have (exceeded|depleted|used up) your (monthly |included |prepaid )*credits/,
  /^credit limit exceeded/,
  // Fireworks, DashScope, LiteLLM.
  /^account \S{1,80} is (suspended|disabled)/,
  /^access denied, please make sure your account is in good standing/,
  /^(exceeded|budget has been exceeded)!? (budget|current cost)/,
  /^(您的?)?(账户|账号|帐户)?(余额不足|已欠费|欠费)/,
  // new-api: the quota of a token, a user or a group is used up.
  /^(该)?(令牌|用户|分组)?(剩余)?额度(已用尽|已耗尽|不足)/,
];

/** Whether an upstream refuses the operator's account: another target may have one that it takes. */
export function isOwnAccount({ type, code, message }: SaidOfFailure): boolean {
  const names = [type, code].map(asWords);
  if (names.some((name) => codes.some((pattern) => pattern.test(name)))) return true;
  const beginning = message.slice(0, 200).trimStart().toLowerCase();
  return sentences.some((pattern) => pattern.test(beginning));
}

/** `AccountOverdueError` is `account_overdue_error`. */
function asWords(name: string): string {
  return name
    .slice(0, 100)
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z\d]+/g, "_")
    .toLowerCase();
}
