const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** As RFC 2046 has it, in which no space is last. */
const boundary = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const parameter = new RegExp(`^\\s*;\\s*(${token})=(?:(${token})|"([^"\\\\]*)")`);

/** Whether a content type says that the body is a form of parts. */
export function isFormType(contentType: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(contentType ?? "");
}

/** @returns `undefined` when the content type is none of a form, or has no boundary or several. */
export function boundaryOf(contentType: string): string | undefined {
  const type = /^\s*multipart\/form-data/i.exec(contentType);
  if (type === null || contentType.length > 512) return undefined;
  let rest = contentType.slice(type[0].length);
  let found: string | undefined;
  while (rest.trim() !== "") {
    const next = parameter.exec(rest);
    if (next === null) return undefined;
    const [all, name = "", plain, quoted] = next;
    rest = rest.slice(all.length);
    if (name.toLowerCase() !== "boundary") continue;
    if (found !== undefined) return undefined;
    found = plain ?? quoted ?? "";
  }
  return found !== undefined && boundary.test(found) ? found : undefined;
}
