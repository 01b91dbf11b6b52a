import { useState } from "preact/hooks";
import type { AccountList, AccountModel } from "../../account/account-page-api.js";
import { CopyButton } from "../parts/copy-button.js";
import { Choice, SelectField } from "../parts/field.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { apiUrl, texts } from "./settings.js";

/** Where clients call the gateway, in full. */
export const baseUrl = new URL(apiUrl, location.href).href.replace(/\/$/, "");

/** What stands for a key that is not shown. */
export const keyPlace = "YOUR_API_KEY";

const tools = (["curl", "python", "node", "codex", "claude"] as const).map(
  (tool) => [tool, texts[`tool_${tool}`]] as const,
);

/** How several tools call the gateway, with a key or with the place of one. */
export function Snippets({ apiKey = keyPlace }: { readonly apiKey?: string }) {
  const models = useApi<AccountList<AccountModel>>("models").data?.data ?? [];
  const chat = models.filter(({ type }) => type === "chat");
  const [tool, setTool] = useState<(typeof tools)[number][0]>("curl");
  const [chosen, setModel] = useState("");
  const model = chosen || (chat[0]?.id ?? "MODEL");
  const snippet = fill(texts[`snippet_${tool}`], {
    base: baseUrl,
    root: baseUrl.replace(/\/v1$/, ""),
    key: apiKey,
    model,
  });
  return (
    <div class="stack">
      <Choice label={texts.tool} options={tools} value={tool} onChange={setTool} />
      <SelectField label={texts.modelId} value={model} options={chat.map(({ id }) => id)} onChange={setModel} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it by keys */}
      <pre tabIndex={0}>{snippet}</pre>
      <div class="actions">
        <CopyButton text={snippet} what={texts.snippetWhat} />
      </div>
    </div>
  );
}
