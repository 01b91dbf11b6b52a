const policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'self'",
  "require-trusted-types-for": "'script'",
  "trusted-types": "'none'",
};

/** On every answer of a page, whatever it is: nothing but the page's own files runs, and no other site shows it. */
export function securityHeaders(frameAncestors: readonly string[] | undefined): Readonly<Record<string, string>> {
  const ancestors = frameAncestors?.length ? frameAncestors.join(" ") : "'none'";
  const directives = Object.entries({ ...policy, "frame-ancestors": ancestors });
  return {
    "content-security-policy": directives.map(([name, value]) => `${name} ${value}`).join("; "),
    ...(ancestors === "'none'" && { "x-frame-options": "DENY" }),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  };
}
