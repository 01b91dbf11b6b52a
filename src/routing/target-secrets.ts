import type { UpstreamProvider } from "../providers/upstream-provider.js";
import { KeyMask } from "../redaction/key-mask.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import type { Target } from "./target.js";

/**
 * What of a provider's no client may read. What is made of it is kept until the provider gives another object.
 * @param keyPrefix - of the gateway's own keys.
 */
// A function of its own: as a closure of a route it would keep the route before, and so all of them.
export function secretsOf(provider: UpstreamProvider, keyPrefix: string): Pick<Target, "secrets" | "keyMask"> {
  let known: UpstreamSecrets = {};
  let secrets: UpstreamSecrets = { keyPrefixes: [keyPrefix] };
  let mask: KeyMask | undefined;
  const read = (): void => {
    const now = provider.secrets?.() ?? known;
    if (now === known) return;
    known = now;
    secrets = { ...now, keyPrefixes: [...(now.keyPrefixes ?? []), keyPrefix] };
    mask = KeyMask.of(now.keys ?? []);
  };
  return {
    secrets() {
      read();
      return secrets;
    },
    keyMask() {
      try {
        read();
      } catch {
        // A provider of the host's may fail at it. That is no reason to fail its call.
      }
      return mask;
    },
  };
}
