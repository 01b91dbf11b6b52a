import { useState } from "preact/hooks";
import type { AccountList, AccountModel } from "../../account/account-page-api.js";
import { compact, credits } from "../parts/format.js";
import { Empty, Ready } from "../parts/notice.js";
import { type Column, DownloadButton, figures, Table, words } from "../parts/table.js";
import { useApi } from "../parts/use-api.js";
import type { ViewProps } from "./reader.js";
import { textOf, texts } from "./settings.js";
import { TryPanel } from "./try-panel.js";

/** The models of the plan, and a place to try them. */
export function ModelsView({ me, reload }: ViewProps) {
  const models = useApi<AccountList<AccountModel>>("models");
  const [chosen, setChosen] = useState("");
  const canTry = me.can.try_models;
  const choose = (id: string) => {
    setChosen(id);
    document.getElementById("question")?.focus();
  };
  const columns = columnsOf(canTry ? choose : undefined);
  return (
    <Ready of={models}>
      {({ data }) => {
        const chat = data.filter(({ type }) => type === "chat").map(({ id }) => id);
        return (
          <>
            <section class="card" aria-label={texts.models}>
              {data.length === 0 && <Empty title={texts.modelsEmpty} />}
              <div class="row">
                <p class="muted">{texts.price}</p>
                <DownloadButton name="models.csv" columns={columns} rows={data} />
              </div>
              <Table caption={texts.models} columns={columns} rows={data} keyOf={({ id }) => id} />
            </section>
            {canTry && chat[0] !== undefined && (
              <TryPanel models={chat} model={chosen || chat[0]} onModel={setChosen} onDone={reload} />
            )}
          </>
        );
      }}
    </Ready>
  );
}

function columnsOf(onTry: ((id: string) => void) | undefined): readonly Column<AccountModel>[] {
  const columns: Column<AccountModel>[] = [
    { head: texts.model, cell: ({ id }) => <code>{id}</code>, csv: ({ id }) => id },
    words(texts.type, ({ type }) => textOf("type", type)),
    figures(texts.input, ({ price }) => price?.input ?? null, credits),
    figures(texts.cached, ({ price }) => price?.cached_input ?? null, credits),
    figures(texts.output, ({ price }) => price?.output ?? null, credits),
    figures(texts.perRequest, ({ price }) => price?.request ?? null, credits),
    figures(texts.context, ({ context_length }) => context_length, compact),
    figures(texts.longest, ({ max_output_tokens }) => max_output_tokens, compact),
    {
      head: texts.try,
      cell: ({ id, type }) =>
        onTry &&
        type === "chat" && (
          <button type="button" aria-label={`${texts.try} ${id}`} onClick={() => onTry(id)}>
            {texts.try}
          </button>
        ),
    },
  ];
  return onTry === undefined ? columns.slice(0, -1) : columns;
}
