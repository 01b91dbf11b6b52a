const identifier = /^[A-Za-z_$][\w$]*$/;

/** The path of a member, as in JavaScript: `a.b`, or `a["b c"]` where the name is no identifier. */
export function memberPath(path: string, name: string): string {
  if (!identifier.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
