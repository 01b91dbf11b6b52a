import { idText } from "./id-text.js";
import { recordOf } from "./record-of.js";

/** The most tags that one source sets for a call. */
export const mostTags = 16;

/** The longest value of a tag, in characters. */
export const longestTag = 256;

const namePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Whether it may be the name of a tag. */
export function isTagName(name: string): boolean {
  return namePattern.test(name);
}

/**
 * Tags that the host's code sets.
 * @param meantBy - what a name means that no tag may have; `undefined`: nothing.
 */
export function tagsInput(meantBy: (name: string) => string | undefined) {
  const error = 'must be an object of texts, such as { team: "search" }';
  return recordOf({ values: idText(longestTag), most: mostTags, error }).superRefine((tags, context) => {
    for (const name of Object.keys(tags)) {
      const message = nameProblem(name, meantBy);
      if (message !== undefined) context.addIssue({ code: "custom", path: [name.slice(0, 64)], message });
    }
  });
}

/** The name of a tag that the host's code sets. @param meantBy - as of {@link tagsInput}. */
export function tagName(meantBy: (name: string) => string | undefined) {
  return idText().superRefine((name, context) => {
    const message = nameProblem(name, meantBy);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

function nameProblem(name: string, meantBy: (name: string) => string | undefined): string | undefined {
  const meant = meantBy(name);
  if (meant === undefined) {
    return isTagName(name) ? undefined : "must be named by at most 64 letters, digits, _, . and -, with a letter first";
  }
  return `must have another name: this one is reserved, for it ${meant === name ? "is" : "is taken for"} \`${meant}\``;
}
