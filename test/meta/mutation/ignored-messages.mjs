/** What an error says is no rule of money, so its text is left as it is. That it is thrown is one. */
const messages = {
  shouldIgnore({ parentPath }) {
    const isOfError = parentPath?.isNewExpression() === true && /Error$/.test(parentPath.node.callee.name ?? "");
    return isOfError ? "what an error says" : undefined;
  },
};

export const strykerPlugins = [{ kind: "Ignore", name: "messages", value: messages }];
