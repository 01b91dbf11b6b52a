import type { TargetTraits } from "../../operations/operation.js";
import { headerSecrets } from "../../providers/header-secrets.js";

/** The target, of whose errors no client reads the values of these headers. */
export function hideHeaders(target: TargetTraits, headers: Readonly<Record<string, string>>): TargetTraits {
  const { upstreamModel, operations, price, rules, dialect, secrets } = target;
  const withHeaders = () => {
    const { keys = [], texts = [], ...others } = secrets?.() ?? {};
    const hidden = headerSecrets(headers);
    return { ...others, keys: [...keys, ...hidden.keys], texts: [...texts, ...(hidden.texts ?? [])] };
  };
  return { upstreamModel, operations, price, rules, dialect, secrets: withHeaders };
}
