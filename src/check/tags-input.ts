import { idText } from "./id-text.js";
import { recordOf } from "./record-of.js";

/** The most tags that one source sets for a call. */
export const mostTags = 16;

/** The longest value of a tag, in characters. */
export const longestTag = 256;

const namePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** The name of a tag. @param reserved - names that mean something else where usage is summed. */
export function isTagName(name: string, reserved: readonly string[]): boolean {
  return namePattern.test(name) && !reserved.includes(name);
}

/** Tags that the host's code sets. @param reserved - names that no tag may have. */
export function tagsInput(reserved: readonly string[]) {
  const error = 'must be an object of texts, such as { team: "search" }';
  return recordOf({ values: idText(longestTag), most: mostTags, error }).superRefine((tags, context) => {
    for (const name of Object.keys(tags)) {
      if (isTagName(name, reserved)) continue;
      context.addIssue({
        code: "custom",
        path: [name.slice(0, 64)],
        message:
          "must be named by at most 64 letters, digits, _, . and -, with a letter first" +
          (reserved.includes(name) ? `; ${reserved.join(", ")} are reserved` : ""),
      });
    }
  });
}
