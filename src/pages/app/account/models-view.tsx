import { useState } from "preact/hooks";
import type { AccountList, AccountModel, AccountPricePart } from "../../account/account-page-api.js";
import { compact, number } from "../parts/format.js";
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
  return (
    <Ready of={models}>
      {({ data }) => {
        const columns = columnsOf(data, canTry ? choose : undefined);
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

/** As many decimals as a price has, two at least. */
function inCredits(price: number): string {
  return number(price, 2, 6);
}

/** Without the columns that would say nothing. */
function columnsOf(
  models: readonly AccountModel[],
  onTry: ((id: string) => void) | undefined,
): readonly Column<AccountModel>[] {
  const columns: Column<AccountModel>[] = [
    { head: texts.model, cell: ({ id }) => <code>{id}</code>, csv: ({ id }) => id },
    words(texts.type, ({ type }) => textOf("type", type)),
    figures(texts.input, ({ price }) => price?.input ?? null, inCredits),
    figures(texts.cached, ({ price }) => price?.cached_input ?? null, inCredits),
    figures(texts.output, ({ price }) => price?.output ?? null, inCredits),
    ...(models.some(({ price }) => typeof price?.request === "number")
      ? [figures<AccountModel>(texts.perRequest, ({ price }) => price?.request ?? null, inCredits)]
      : []),
    ...(models.some(({ price }) => price?.others.length)
      ? [
          {
            head: texts.otherPrices,
            cell: ({ price }: AccountModel) =>
              price?.others.map((part) => <div key={partOf(part)}>{partOf(part)}</div>),
            csv: ({ price }: AccountModel) => (price?.others ?? []).map(partOf).join("; "),
          },
        ]
      : []),
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

/** Such as `An image high 1024x1024 0.20`. */
function partOf({ part, of, credits }: AccountPricePart): string {
  return [textOf("price", part), of, inCredits(credits)].filter((word) => word !== null).join(" ");
}
