import { useState } from "preact/hooks";
import type { AccountKey, NewAccountKey } from "../../../account/account-page-api.js";
import { callApi } from "../../parts/api.js";
import { Question } from "../../parts/dialog.js";
import { SelectField } from "../../parts/field.js";
import { announce } from "../../parts/live-region.js";
import { fill } from "../../parts/texts.js";
import { textOf, texts } from "../settings.js";

interface KeyQuestionProps {
  readonly kind: "rotate" | "enable" | "disable" | "revoke";
  readonly apiKey: AccountKey;
  readonly onDone: (made?: NewAccountKey) => Promise<void>;
  readonly onClose: () => void;
}

const graces = ["0", "3600", "86400", "604800"];

/** Asks before a key is replaced, or stops to work. */
export function KeyQuestion({ kind, apiKey: { id, name }, onDone, onClose }: KeyQuestionProps) {
  const [grace, setGrace] = useState("86400");
  const called = name ?? texts.unnamed;
  const path = `keys/${encodeURIComponent(id)}`;
  const act = async () => {
    if (kind === "rotate") {
      const body = { grace_seconds: Number(grace) };
      return onDone(await callApi<NewAccountKey>(`${path}/rotate`, { method: "POST", body }));
    }
    if (kind === "revoke") await callApi(`${path}/revoke`, { method: "POST", body: {} });
    else await callApi(path, { method: "PATCH", body: { enabled: kind === "enable" } });
    announce(kind === "revoke" ? texts.keyRevoked : texts.keySaved);
    await onDone();
  };
  return (
    <Question
      title={fill(texts[`${kind}Key`], { name: called })}
      action={texts[kind]}
      isDangerous={kind === "revoke" || kind === "disable"}
      act={act}
      onClose={onClose}
    >
      <p>{texts[`${kind}More`]}</p>
      {kind === "rotate" && (
        <SelectField
          label={texts.grace}
          value={grace}
          onChange={setGrace}
          options={graces.map((seconds) => [seconds, textOf("grace", seconds)])}
        />
      )}
    </Question>
  );
}
