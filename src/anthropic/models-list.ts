/** What of a model its record shows. */
export interface ListedModel {
  readonly id: string;
  readonly contextLength: number;
  readonly maxOutputTokens?: number | undefined;
  /** What it is called; absent: its id. */
  readonly displayName?: string | undefined;
  /** Epoch seconds. */
  readonly created: number;
}

/** A model as Anthropic describes one (Anthropic reference, "Get a Model"). */
export function anthropicModel(model: ListedModel): string {
  return JSON.stringify({
    type: "model",
    id: model.id,
    display_name: model.displayName ?? model.id,
    created_at: new Date(model.created * 1000).toISOString().replace(".000Z", "Z"),
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens ?? null,
  });
}

/** The list, all on one page (Anthropic reference, "List Models"): it is short. */
export function anthropicModelList(models: readonly ListedModel[]): string {
  const ids = JSON.stringify({ has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null });
  return `{"data":[${models.map(anthropicModel).join(",")}],${ids.slice(1)}`;
}
